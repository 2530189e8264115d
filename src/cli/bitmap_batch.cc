#include "cli/bitmap_batch.h"

#include <array>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/ids.h"
#include "cli/bitmap_answer.h"
#include "cli/bitmap_request.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"

namespace cadastre::cli {
namespace {

using Answer = Result<std::string, CommandError>;

Result<base::Bytes, CommandError> key_of(const BitmapSession& session, const JsonFields& request) {
  return request.key("key", session.form().keys);
}

Answer answer_add(BitmapSession& session, const JsonFields& request) {
  const base::Bytes key = CAD_TRY(key_of(session, request));
  return add_ids(session, key, CAD_TRY(parse_ids(request)));
}

Answer answer_remove(BitmapSession& session, const JsonFields& request) {
  const base::Bytes key = CAD_TRY(key_of(session, request));
  return remove_ids(session, key, CAD_TRY(parse_ids(request)));
}

Answer answer_contains(BitmapSession& session, const JsonFields& request) {
  const base::Bytes key = CAD_TRY(key_of(session, request));
  return contains_id(session, key, bitmap::Id { CAD_TRY(request.u64("id")) });
}

Answer answer_count(BitmapSession& session, const JsonFields& request) {
  return count_ids(session, CAD_TRY(key_of(session, request)));
}

Answer answer_get(BitmapSession& session, const JsonFields& request) {
  const base::Bytes key = CAD_TRY(key_of(session, request));
  return get_ids(session, key, CAD_TRY(parse_id_page(request)));
}

template <SetKind Kind>
Answer answer_combine(BitmapSession& session, const JsonFields& request) {
  return combine_sets(session, CAD_TRY(parse_set_request(request, Kind, session.form().keys)));
}

Answer answer_compact(BitmapSession& session, const JsonFields& request) {
  return compact_set(session, CAD_TRY(key_of(session, request)));
}

Answer answer_erase(BitmapSession& session, const JsonFields& request) {
  return erase_set(session, CAD_TRY(key_of(session, request)));
}

Answer answer_keys(BitmapSession& session, const JsonFields& request) {
  return list_keys(session, CAD_TRY(parse_key_page(request, session.form().keys)));
}

Answer answer_begin(BitmapSession& session, const JsonFields& /*request*/) {
  CAD_TRY(session.begin());
  return done_answer(session.form());
}

Answer answer_commit(BitmapSession& session, const JsonFields& /*request*/) {
  CAD_TRY(session.commit());
  return done_answer(session.form());
}

Answer answer_abort(BitmapSession& session, const JsonFields& /*request*/) {
  CAD_TRY(session.abort());
  return done_answer(session.form());
}

struct Operation {
  std::string_view name;
  Answer (*answer)(BitmapSession& session, const JsonFields& request);
};

constexpr std::array kOperations = {
    Operation{"add", answer_add},
    Operation{"remove", answer_remove},
    Operation{"contains", answer_contains},
    Operation{"count", answer_count},
    Operation{"get", answer_get},
    Operation{"and", answer_combine<SetKind::kAnd>},
    Operation{"or", answer_combine<SetKind::kOr>},
    Operation{"andnot", answer_combine<SetKind::kAndNot>},
    Operation{"xor", answer_combine<SetKind::kXor>},
    Operation{"compact", answer_compact},
    Operation{"erase", answer_erase},
    Operation{"keys", answer_keys},
    Operation{"begin", answer_begin},
    Operation{"commit", answer_commit},
    Operation{"abort", answer_abort},
};

std::string names_of_operations() {
  std::string names;
  for (const Operation& operation : kOperations) {
    if (!names.empty()) names += ", ";
    names += operation.name;
  }
  return names;
}

}  // namespace

Answer answer_bitmap_request(BitmapSession& session, const JsonFields& request) {
  const std::string_view op = CAD_TRY(request.text("op"));
  for (const Operation& operation : kOperations) {
    if (operation.name == op) return operation.answer(session, request);
  }
  return base::fail(bad_request("the op is none of " + names_of_operations()));
}

}  // namespace cadastre::cli
