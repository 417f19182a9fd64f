use super::*;

fn any() -> RangeInclusive<u64> {
    0..=u64::MAX
}

#[test]
fn inclusion_is_decided_and_what_is_not_included_is_shown() {
    let included = |a: &str, b: &str| find(&[a], Some(b), any()).map(|text| text.is_none());
    assert_eq!(included("^[a-z]+$", "^[a-z0-9]+$"), Ok(true));
    assert_eq!(included("^[a-z0-9]+$", "^[a-z]+$"), Ok(false));
    // Unanchored patterns, and another spelling of the same language.
    assert_eq!(included("abc", "b"), Ok(true));
    assert_eq!(included(r"^\d{3}$", "^[0-9][0-9][0-9]$"), Ok(true));
    assert_eq!(included("^a?$", "^(|a)$"), Ok(true));
    assert_eq!(find(&["^[a-z0-9]+$"], Some("^[a-z]+$"), any()), Ok(Some("0".into())));
    // A dot is a character, not a byte.
    assert_eq!(included("^[^a]$", "^.{1}$"), Ok(false), "a newline");
    assert_eq!(included("^é$", "^.$"), Ok(true));
}

#[test]
fn lengths_count_characters_and_take_part() {
    assert_eq!(find(&["^[a-z]{1,3}$"], None, 4..=u64::MAX), Ok(None));
    assert_eq!(find(&["^é+$"], None, 2..=2), Ok(Some("éé".into())));
    assert_eq!(find(&[], None, 3..=5), Ok(Some("aaa".into())));
    assert_eq!(find(&["^[a-z]+$"], Some("^a*$"), 2..=2).map(|text| text.map(|it| it.len())), Ok(Some(2)));
}

#[test]
fn all_patterns_must_match() {
    assert_eq!(find(&["^[ab]+$", "a", "b"], None, any()), Ok(Some("ab".into())));
    assert_eq!(find(&["^a+$", "^b+$"], None, any()), Ok(None));
}

#[test]
fn an_enumeration_is_a_language() {
    let listed = literally(["a.b", "c"]);
    assert_eq!(find(&[&listed], Some("^(c|a[.]b)$"), any()), Ok(None));
    assert_eq!(find(&["^[bc]$"], Some(&listed), any()), Ok(Some("b".into())));
}

#[test]
fn too_large_a_search_says_so() {
    assert_eq!(find(&["^(?:a|b)*a(?:a|b){18}$"], Some("^(?:a|b)*b(?:a|b){17}a$"), any()), Err(TooLarge));
}
