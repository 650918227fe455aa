/** What somebody probably meant: the nearest of the known words, or null when none is near. */
export function nearest(given: string, known: Iterable<string>): string | null {
  if (given.length > MAX_LENGTH) return null
  const wanted = given.toLowerCase()
  let best: { word: string; distance: number } | null = null
  for (const word of known) {
    const distance = editDistance(wanted, word.toLowerCase())
    if (distance <= Math.max(1, Math.floor(word.length / CHARACTERS_A_SLIP)) && distance < (best?.distance ?? Infinity))
      best = { word, distance }
  }
  return best?.word ?? null
}

const MAX_LENGTH = 100
/** So many characters may hold one slip: more would guess wildly. */
const CHARACTERS_A_SLIP = 4

/** Characters added, removed, replaced or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = above
    above = row
  }
  return above[b.length]!
}
