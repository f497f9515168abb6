/* Vectors of FIPS 180-4 and of NIST's example values. */
#include "fixture.h"
#include "io/sha256.h"

static void test_vectors(void **state) {
  (void)state;
  const struct {
    const char *text, *digest;
  } vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
       "u",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
  };
  char found[65];
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    io_sha256(vectors[i].text, strlen(vectors[i].text), found);
    assert_string_equal(found, vectors[i].digest);
  }
  char *million = malloc(1000000);
  memset(million, 'a', 1000000);
  io_sha256(million, 1000000, found);
  assert_string_equal(found, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(million);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
