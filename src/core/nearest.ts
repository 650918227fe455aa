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
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = Array.from({ length: b.length + 1 }, () => beyond)
    row[0] = i
    let least = i
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j++) {
      const same = a[i - 1] === b[j - 1]
      let cell = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cell = Math.min(cell, before[j - 2]! + 1)
      row[j] = cell
      least = Math.min(least, cell)
    }
    if (least > limit) return beyond
    before = above
    above = row
  }
  return above[b.length]!
}
