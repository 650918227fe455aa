import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { CollectionRecord, entriesOf, EXAMPLE_COLLECTION, toCollection } from './wire.ts'

/** One collection by its name, with its data products; the archive, if it can be tasked as well. */
export default operation({
  id: 'glossary.collections.get',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ collection_name: Type.String({ minLength: 1, maxLength: 200, description: 'Collection name' }) }),
  output: CollectionRecord,
  example: { input: { collection_name: EXAMPLE_COLLECTION.name }, output: EXAMPLE_COLLECTION },
}).handle({
  async execute({ vendors }, { collection_name }) {
    const entry = entriesOf(vendors).find(({ collection }) => collection.id === collection_name)
    if (!entry) throw notFound('collection')
    return toCollection(vendors, entry)
  },
})
