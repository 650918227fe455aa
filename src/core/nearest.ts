/** The known word closest to the given one; null if none is close. */
export function nearest(given: string, known: Iterable<string>): string | null {
  const wanted = given.toLowerCase()
  let best: string | null = null
  let closest = Infinity
  for (const word of known) {
    const limit = Math.min(closest - 1, Math.max(1, Math.floor(word.length / CHARACTERS_PER_TYPO)))
    // Callers without a credential reach this: words that differ too much in length are not compared at all.
    if (limit < 0 || Math.abs(word.length - wanted.length) > limit) continue
    const distance = editDistance(wanted, word.toLowerCase(), limit)
    if (distance > limit) continue
    best = word
    closest = distance
  }
  return best
}

/** The end of an error message about an unknown word: a suggestion, otherwise where to find the known ones. */
export function meant(given: string, known: Iterable<string>, otherwise: string): string {
  const word = nearest(given, known)
  return word === null ? otherwise && `; ${otherwise}` : `; did you mean ${word}?`
}

/** More typos per word would give wrong suggestions. */
const CHARACTERS_PER_TYPO = 4

/**
 * The edit distance: characters added, removed, replaced or swapped with their neighbour. Any number above `limit` if it is larger.
 * Only cells within `limit` of the diagonal can be smaller, so only those are computed.
 */
function editDistance(a: string, b: string, limit: number): number {
  const beyond = limit + 1
  // Three rows are reused: allocating a row per character would take most of the time.
  let [before, above, row] = [new Uint16Array(b.length + 1), new Uint16Array(b.length + 1), new Uint16Array(b.length + 1)]
  for (let j = 0; j <= b.length; j++) above[j] = Math.min(j, beyond)
  for (let i = 1; i <= a.length; i++) {
    const [first, last] = [Math.max(1, i - limit), Math.min(b.length, i + limit)]
    row[first - 1] = first === 1 ? Math.min(i, beyond) : beyond
    let least = row[first - 1]!
    for (let j = first; j <= last; j++) {
      let cell = above[j - 1]! + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      if (row[j - 1]! + 1 < cell) cell = row[j - 1]! + 1
      if (above[j]! + 1 < cell) cell = above[j]! + 1
      const isSwapped = i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isSwapped && before[j - 2]! + 1 < cell) cell = before[j - 2]! + 1
      row[j] = cell
      if (cell < least) least = cell
    }
    if (last < b.length) row[last + 1] = beyond // The next row reads one cell further.
    if (least > limit) return beyond
    ;[before, above, row] = [above, row, before]
  }
  return above[b.length]!
}
