/** The known word that was probably meant, or null when none is close to the given one. */
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

/** The end of a sentence about a word that nobody knows: the one that was probably meant, or else where the known ones are. */
export function meant(given: string, known: Iterable<string>, otherwise: string): string {
  const word = nearest(given, known)
  return word === null ? otherwise && `; ${otherwise}` : `; did you mean ${word}?`
}

/** More typos per word would suggest words that were not meant. */
const CHARACTERS_PER_TYPO = 4

/**
 * Characters added, removed, replaced or swapped with their neighbour; anything above `limit` once it is certain to be above.
 * Only cells within `limit` of the diagonal can hold less, so only those are computed.
 */
function editDistance(a: string, b: string, limit: number): number {
  const beyond = limit + 1
  // Three rows that take turns: a row for each character would be most of the time.
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
    if (last < b.length) row[last + 1] = beyond // The next row looks one cell further.
    if (least > limit) return beyond
    ;[before, above, row] = [above, row, before]
  }
  return above[b.length]!
}
