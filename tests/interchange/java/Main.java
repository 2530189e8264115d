// Sets of sets.txt written and read with Roaring64NavigableMap. See ../README.md.
//
//   Main make SETS FOLDER
//   Main read FILE...
//
// Besides the portable form, `make` writes the set `top` in the three forms of this library that others do
// not read: legacy/top.bin, signed/top.bin and art/top.bin.

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.roaringbitmap.longlong.LongIterator;
import org.roaringbitmap.longlong.Roaring64Bitmap;
import org.roaringbitmap.longlong.Roaring64NavigableMap;

public class Main {
  interface Writes {
    void to(DataOutputStream out) throws IOException;
  }

  static long splitmix64(long state) {
    long z = state;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  static void apply(Roaring64NavigableMap set, String[] words) {
    switch (words[0]) {
      case "add", "remove" -> {
        long id = Long.parseUnsignedLong(words[1]);
        long step = Long.parseUnsignedLong(words[2]);
        for (long left = Long.parseLong(words[3]); left > 0; left--, id += step) {
          if (words[0].equals("add")) {
            set.addLong(id);
          } else {
            set.removeLong(id);
          }
        }
      }
      case "random" -> {
        long state = Long.parseUnsignedLong(words[1]);
        for (long left = Long.parseLong(words[2]); left > 0; left--) {
          state += 0x9e3779b97f4a7c15L;
          set.addLong(splitmix64(state));
        }
      }
      case "optimise" -> set.runOptimize();
      default -> throw new IllegalArgumentException("no such rule: " + words[0]);
    }
  }

  static void write(Path file, Writes writes) throws IOException {
    Files.createDirectories(file.getParent());
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(file))) {
      writes.to(out);
    }
  }

  static void writeOtherForms(Path folder, Roaring64NavigableMap set) throws IOException {
    Roaring64NavigableMap signed = new Roaring64NavigableMap(true);
    Roaring64Bitmap art = new Roaring64Bitmap();
    set.forEach(signed::addLong);
    set.forEach(art::addLong);
    write(folder.resolve("legacy/top.bin"), set::serializeLegacy);
    write(folder.resolve("signed/top.bin"), signed::serializePortable);
    write(folder.resolve("art/top.bin"), art::serialize);
  }

  static void writeSet(Path folder, String name, Roaring64NavigableMap set) throws IOException {
    write(folder.resolve(name + ".bin"), set::serializePortable);
    if (name.equals("top")) {
      writeOtherForms(folder, set);
    }
  }

  static void make(Path sets, Path folder) throws IOException {
    String name = "";
    Roaring64NavigableMap set = new Roaring64NavigableMap();
    for (String line : Files.readAllLines(sets)) {
      String[] words = line.trim().split("\\s+");
      if (words[0].isEmpty() || words[0].equals("#")) {
        continue;
      }
      if (!words[0].equals("set")) {
        apply(set, words);
        continue;
      }
      if (!name.isEmpty()) {
        writeSet(folder, name, set);
      }
      name = words[1];
      set = new Roaring64NavigableMap();
    }
    writeSet(folder, name, set);
  }

  // Cardinality, and FNV-1a over the members as little-endian bytes, ascending.
  static String describe(Roaring64NavigableMap set) {
    long hash = 0xcbf29ce484222325L;
    long count = 0;
    for (LongIterator at = set.getLongIterator(); at.hasNext(); count++) {
      long id = at.next();
      for (int i = 0; i < 8; i++) {
        hash = (hash ^ (id >>> (8 * i)) & 0xff) * 0x100000001b3L;
      }
    }
    if (count != set.getLongCardinality()) {
      return "inconsistent: " + count + " members, cardinality " + set.getLongCardinality();
    }
    return String.format("%d %016x", count, hash);
  }

  static String read(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    Roaring64NavigableMap set = new Roaring64NavigableMap();
    try {
      set.deserializePortable(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException | RuntimeException error) {
      return "refused: " + error;
    }
    return describe(set);
  }

  public static void main(String[] words) throws IOException {
    if (words[0].equals("make")) {
      make(Path.of(words[1]), Path.of(words[2]));
      return;
    }
    for (String file : List.of(words).subList(1, words.length)) {
      System.out.println(file + "\t" + read(Path.of(file)));
    }
  }
}
