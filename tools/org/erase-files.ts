/** Removes the files of an erased organization a page at a time, and completes its proof. */
import type pg from 'pg'
import type { Storage } from '#ports/storage.ts'
import { TILE_BUCKET, tilePrefix } from '#ports/tile-cache.ts'
import { each } from '../backup/each.ts'
import { objectsOf } from '../backup/objects.ts'
import type { Organization } from './organization.ts'
import type { Proof } from './proof.ts'

const INVOICES = 'invoices'
const REPORTS = 'reports'
/** Deletions in flight. */
const AT_ONCE = 8

/** Buckets of projects, and files in those that organizations share; then both are searched again. */
export async function eraseFiles(
  client: pg.Client,
  storage: Storage,
  { id }: Organization,
  onFiles: (files: number) => void,
): Promise<Proof> {
  const read = async () =>
    (await client.query<{ buckets: string[]; proof: Proof }>('select buckets, proof from erasure where org_id = $1', [id])).rows[0]!
  const { buckets, proof } = await read()
  const hasKept = proof.kept.length > 0
  const isOwn = (key: string): boolean => key.split('/').includes(id)
  const remove = async (bucket: string, prefix = '', selects = (_key: string): boolean => true) => {
    let cursor: string | null = null
    do {
      const page = await storage.list(bucket, { cursor, prefix })
      const keys = page.objects.map(({ key }) => key).filter(selects)
      await each(asyncly(keys), AT_ONCE, (key) => storage.remove({ bucket, key }))
      // An interrupted command has counted all pages but one.
      await client.query(
        `update erasure set proof = jsonb_set(proof, '{deleted_files}', to_jsonb((proof ->> 'deleted_files')::bigint + $2::bigint))
         where org_id = $1`,
        [id, keys.length],
      )
      onFiles(keys.length)
      cursor = page.next
    } while (cursor !== null)
  }
  for (const bucket of buckets) {
    await remove(bucket)
    await storage.deleteBucket(bucket) // With parts of uploads, which no list shows.
  }
  await remove(REPORTS, '', isOwn)
  if (!hasKept) await remove(INVOICES, `${id}/`)
  await remove(TILE_BUCKET, tilePrefix(id))

  const keptFiles: string[] = []
  const left: string[] = []
  for await (const { bucket, key } of objectsOf(storage, [TILE_BUCKET], tilePrefix(id))) left.push(`${bucket}/${key}`)
  for await (const { bucket, key } of objectsOf(storage, [...buckets, REPORTS, INVOICES])) {
    if (buckets.includes(bucket)) left.push(`${bucket}/${key}`)
    else if (isOwn(key)) (bucket === INVOICES && hasKept ? keptFiles : left).push(`${bucket}/${key}`)
  }
  const complete: Proof = { ...(await read()).proof, kept_files: keptFiles, unexpected: [...proof.unexpected, ...left] }
  await client.query('update erasure set buckets = $2, proof = $3 where org_id = $1', [
    id,
    left.length > 0 ? buckets : [],
    JSON.stringify(complete),
  ])
  return complete
}

async function* asyncly<T>(values: readonly T[]): AsyncIterable<T> {
  yield* values
}
