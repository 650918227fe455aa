/** How much of a file is read: enough for any area of interest, and little enough that a hostile file cannot stop the browser. */

export const MAX_FILE_BYTES = 25 * 1024 * 1024
export const MAX_UNZIPPED_BYTES = 64 * 1024 * 1024
export const MAX_ZIP_ENTRIES = 1_000
const MAX_FEATURES = 20_000
const MAX_POSITIONS = 200_000

/** Its message is one sentence that says what to change. */
export class FileProblem extends Error {
  override name = 'FileProblem'
}

export type Position = [number, number]
export type Polygon = Position[][]
/** A point has one position, a line more. */
export type Mark = Position[]

/** Counts what was read, of a whole file. */
export class Budget {
  #features = 0
  #positions = 0

  feature(): void {
    if (++this.#features > MAX_FEATURES)
      throw new FileProblem(`The file has more than ${MAX_FEATURES.toLocaleString('en')} features. Export only the areas you need.`)
  }

  positions(count: number): void {
    this.#positions += count
    if (!(count >= 0) || this.#positions > MAX_POSITIONS)
      throw new FileProblem(`The file has more than ${MAX_POSITIONS.toLocaleString('en')} points. Simplify the areas first.`)
  }
}
