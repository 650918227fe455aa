/**
 * The items of an organization as UP42 assets: our STAC API under UP42's URLs and with its names, files by `download-url`, titles
 * and tags by PATCH, and deletion by collection.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { parseBody } from '#http/body.ts'
import { send } from '#http/operations.ts'
import { project } from '#http/projections/project.ts'
import { bodyOf, sendProblem } from '#http/projections/stac/responses.ts'
import { baseUrlOf, type Dialect, type Facade } from '#http/projections/stac/base-url.ts'
import { registerStac, sendItem } from '#http/projections/stac/routes.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import type { Json } from './route.ts'

const MOUNT = '/v2/assets'
const TITLE = 'up42-user:title'
const TAGS = 'up42-user:tags'

/** UP42's property names, and ours. */
const OURS: Readonly<Record<string, string>> = {
  [TITLE]: 'title',
  'up42-order:id': 'svc:order_id',
  'up42-system:asset_id': 'svc:item_id',
  'up42-system:job_id': 'svc:job_id',
  'up42-system:source': 'svc:source',
  'up42-system:workspace_id': 'svc:project_id',
}

/** Property names occur as `{ property }` anywhere in a filter, as members of `query`, and as `field` of a sort. */
function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isName = (name === 'property' || name === 'field') && typeof member === 'string'
      return [OURS[name] ?? name, isName ? (OURS[member.replace(/^properties\./, '')] ?? member) : renamed(member)]
    }),
  )
}

const DIALECT: Dialect = {
  path: MOUNT,
  toOurs: (input) => ({
    ...input,
    ...Object.fromEntries(['filter', 'query', 'sortby'].flatMap((name) => (name in input ? [[name, renamed(input[name])]] : []))),
  }),
  toTheirs(document, { organizationId, baseUrl }) {
    if (document['type'] === 'Collection') return { ...document, [TITLE]: document['title'], 'up42-system:account_id': organizationId }
    const properties = document['properties'] as Json
    const theirs = Object.fromEntries(Object.entries(OURS).map(([name, ours]) => [name, properties[ours] ?? null]))
    const assets = Object.entries((document['assets'] ?? {}) as Record<string, { href: string }>)
    // Files have one URL, however the item was found.
    const files = assets.map(([key, asset]) => [
      key,
      { ...asset, href: asset.href.replace(`${baseUrl}/api/`, `${baseUrl.slice(0, -MOUNT.length)}/api/`) },
    ])
    return {
      ...document,
      properties: { ...properties, ...theirs, 'up42-system:account_id': organizationId },
      assets: Object.fromEntries(files),
    }
  },
}

export function registerUp42Assets(app: FastifyInstance, facade: Facade): void {
  const theirs = { ...facade, dialect: DIALECT }
  void app.register(async (scope) => registerStac(scope, theirs), { prefix: MOUNT })
  app.patch<ItemRoute>(`${MOUNT}/stac/collections/:collection/items/:item`, READS_BODY, (request, reply) =>
    updateItem(theirs, request, reply),
  )
  app.delete<CollectionRoute>(`${MOUNT}/stac/collections/:collection`, (request, reply) => deleteCollection(theirs, request, reply))
  app.post<{ Params: { item_id: string; key: string } }>('/api/v1/items/:item_id/assets/:key/download-url', async (request, reply) => {
    const { item_id, key } = request.params
    return send(reply, await project(facade, 'items.asset.download', request, reply, () => ({ item_id, asset_id: key })))
  })
}

interface CollectionRoute {
  Params: { collection: string }
}
interface ItemRoute {
  Params: { collection: string; item: string }
}

/** The failure of one of several operations in a row; it becomes the response. */
class OperationFailure extends Error {
  readonly invoked: Invoked

  constructor(invoked: Invoked) {
    super()
    this.invoked = invoked
  }
}

type Call = (operation: string, input: () => object | Promise<object>) => Promise<Invoked>

async function callInOrder(
  facade: Facade,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (call: Call) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const call: Call = async (operation, input) => {
    const invoked = await project(facade, operation, request, reply, input)
    if (invoked.status !== 200) throw new OperationFailure(invoked)
    return invoked
  }
  try {
    return await work(call)
  } catch (error) {
    if (error instanceof OperationFailure) return sendProblem(reply, error.invoked)
    throw error
  }
}

/** Python's `None`, which the client puts into the URL of an item without a collection. */
const NO_COLLECTION = 'None'

/** The title is the item's name, the tags are a property; null leaves either unchanged. */
function updateItem(facade: Facade, request: FastifyRequest<ItemRoute>, reply: FastifyReply): Promise<FastifyReply> {
  const { collection, item } = request.params
  return callInOrder(facade, request, reply, async (call) => {
    const shown = bodyOf<{ collection?: string; properties: Json }>(await call('items.get_stac', () => ({ item_id: item })))
    if ((shown.collection ?? NO_COLLECTION) !== collection) throw problem('not-found', 'No such item in this collection')
    const item_id = shown.properties['svc:item_id']
    const { properties } = bodyOf<{ item: { properties: Json } }>(await call('items.get', () => ({ item_id }))).item
    await call('items.update', async () => {
      const { headers } = request
      const given = parseBody(await readRequest(request), headers['content-type'], headers['content-encoding'])
      const [title, tags] = [given[TITLE] ?? null, given[TAGS] ?? null]
      const isStated = title !== null && 'title' in properties
      return {
        item_id,
        ...(title === null ? {} : { name: title }),
        ...(tags !== null || isStated
          ? { properties: { ...properties, ...(isStated ? { title } : {}), ...(tags === null ? {} : { [TAGS]: tags }) } }
          : {}),
      }
    })
    return sendItem(facade, request, reply, await call('items.get_stac', () => ({ item_id, base_url: baseUrlOf(facade, request) })))
  })
}

const MAX_DELETED_ITEMS = 100

/**
 * At UP42, deleting a collection deletes its items. Each item is deleted by its own call and the collection last, so that a failed
 * deletion can be repeated.
 */
function deleteCollection(facade: Facade, request: FastifyRequest<CollectionRoute>, reply: FastifyReply): Promise<FastifyReply> {
  const { collection } = request.params
  delete request.headers['idempotency-key'] // Deleting is idempotent, and one key cannot be used for several deletions.
  return callInOrder(facade, request, reply, async (call) => {
    const search = { collections: [collection], limit: MAX_DELETED_ITEMS + 1 }
    const { features } = bodyOf<{ features: { properties: Json }[] }>(await call('stac.search', () => search))
    if (features.length > MAX_DELETED_ITEMS)
      throw problem('bad-request', `The collection has more than ${MAX_DELETED_ITEMS} items; delete items with items.delete first`)
    const projectId = features[0]?.properties['svc:project_id']
    if (projectId === undefined) throw problem('not-found', 'No such collection, or it has no items')
    // Checked before anything is deleted: editors can delete items, but not the collection.
    const { role } = bodyOf<{ role: string | null }>(await call('projects.get', () => ({ project_id: projectId })))
    if (role !== 'admin') throw problem('forbidden', 'Only admins of the project can delete a collection')
    for (const { properties } of features) await call('items.delete', () => ({ item_id: properties['svc:item_id'] }))
    await call('collections.delete', () => ({ project_id: projectId, collection_id: collection }))
    return reply.code(204).send()
  })
}
