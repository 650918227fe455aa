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
  readsReplica: true,
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
  async execute(_context, _input, { item }) {
    return { item: toRecord(item) }
  },
})

/** An item is visible until the conversion of its file fails; then callers who could read it get the reason. Null in all other cases. */
async function lossOf(db: Context['db'], principal: Context['principal'], itemId: string): Promise<Problem | null> {
  try {
    const { item } = await items.requireReaderEvenDeleted(db, principal, itemId)
    const failure = item.uploadId === null ? null : await uploadFiles.failureOf(db, item.uploadId, itemId)
    if (!failure) return null
    return problem(
      'gone',
      `This item was deleted because its file ${failure.name} could not be converted (${failure.error}). Fix the file and upload it again`,
      {
        members: { upload_id: item.uploadId },
      },
    )
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
