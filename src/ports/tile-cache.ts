/**
 * Where tiles are in the object store. Keys contain a generation, which changes twice within the maximum age: tiles of the present one and
 * the one before are read, and older ones are removed, without a record of when each was used.
 */

export interface TileCacheBounds {
  readonly maxBytes: number
  /** Tiles that nobody has requested for this long are removed. */
  readonly maxAgeSeconds: number
}

export const TILE_BUCKET = 'tile-cache'

const GENERATIONS = 2

export function generationAt({ maxAgeSeconds }: Pick<TileCacheBounds, 'maxAgeSeconds'>, now: Date): number {
  return Math.floor(now.getTime() / ((maxAgeSeconds / GENERATIONS) * 1_000))
}

/** Of the organization that requested it. The name in hexadecimal, because file systems can ignore case. */
export function tileKey(organizationId: string, generation: number, name: string): string {
  return `${organizationId}/${generation}/${Buffer.from(name).toString('hex')}`
}

/** All tiles of an organization. */
export const tilePrefix = (organizationId: string): string => `${organizationId}/`

/** Null if this is not the key of a tile. */
export function generationOf(key: string): number | null {
  const [, generation] = /^[0-9a-f-]{36}\/(\d{1,12})\/[0-9a-f]+$/.exec(key) ?? []
  return generation === undefined ? null : Number(generation)
}
