import { Problem, problem } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { operation, type Context } from '#operation.ts'
import { EXAMPLE_ITEM, ItemRecord, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** One item by its id. */
export default operation({
  id: 'items.get',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Closed({ item: ItemRecord }, { description: 'The item' }),
  example: { input: { item_id: EXAMPLE_ITEM.id }, output: { item: EXAMPLE_ITEM } },
}).handle({
  async check({ db, principal }, { item_id }) {
    try {
      return await items.requireReader(db, principal, item_id)
    } catch (error) {
      throw (await lossOf(db, principal, item_id)) ?? error
    }
  },
  async execute(_context, _input, found) {
    return { item: toRecord(found.item) }
  },
})

/** Whoever uploaded a file saw its item for a moment; if the conversion then failed, they are told so. Null: there is nothing to tell. */
async function lossOf(db: Context['db'], principal: Context['principal'], itemId: string): Promise<Problem | null> {
  try {
    const { item: gone } = await items.requireReaderEvenDeleted(db, principal, itemId)
    const failure = gone.uploadId === null ? null : await uploadFiles.failureOf(db, gone.uploadId, itemId)
    if (!failure) return null
    return problem(
      'gone',
      `This item is gone: its file ${failure.name} could not be converted (${failure.error}). Mend the file and upload it again`,
      {
        members: { upload_id: gone.uploadId },
      },
    )
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
