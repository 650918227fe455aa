import type { Db } from '#db/tables.ts'

/** Identifies this installation; a restored copy has another ID. */
export async function installationId(db: Db): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id
}
