/** The item, collection or layer of a share link that a tile operation renders. Access is checked on every call. */
import { invalidField, notFound, problem } from '#core/problem.ts'
import type { Collection } from '#model/imagery/collection.ts'
import * as collections from '#model/imagery/collection.ts'
import type { Versioned } from '#model/imagery/content-version.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import type { OpenedShare } from '#context.ts'
import type { Context } from '#operation.ts'
import { rejectSavedProfile } from '#services/rendering/collection.ts'
import { choiceOf, styleLayer, type LayerRequest, type StyledLayer } from '#services/rendering/styled-layer.ts'

export interface SharedLayer {
  share: OpenedShare
  /** Its tiles change with it. */
  versioned: Versioned
  /** Of a map's layer, which is shown in no other; null if visitors choose. */
  style: object | null
  shown: { styled: StyledLayer } | { collection: Collection; request: LayerRequest }
}

export async function requireSharedLayer(
  context: Context,
  input: { token: string; password?: string; profile?: string | null },
): Promise<SharedLayer> {
  const share = await context.shares.open(input.token, input.password ?? '')
  const { link, scope } = share
  const request = { profile: input.profile }
  if (link.mapId !== null) return await requireMapLayer(context, share, request)
  if (scope.kind === 'link' && link.collectionId !== null) return await requireCollection(context, share, request)
  const itemSeq = await context.shares.limit(() => itemOf(context, share))
  return { share, style: null, ...(await itemLayer(context, share, itemSeq, request)) }
}

async function itemLayer(context: Context, { link }: OpenedShare, itemSeq: number, request: LayerRequest) {
  const layer = await context.shares.limit(() => itemLayers.find(context.db, itemSeq, choiceOf(request)))
  if (!layer) throw notFound('item')
  const versioned = { organizationId: link.organizationId, itemSeq }
  return { versioned, shown: { styled: await styleLayer(context, layer, request) } }
}

/** A collection has a layer of its own only in a public link; otherwise its items are shown one at a time. */
async function requireCollection({ db, shares }: Context, share: OpenedShare, request: LayerRequest): Promise<SharedLayer> {
  const { link } = share
  if (!link.isPublic)
    throw problem(
      'bad-request',
      'This link shares a collection, and tiles belong to an item; use the tilejson URL of an item in share.link.validate',
    )
  rejectSavedProfile(request)
  const collection = await shares.limit(() => collections.find(db, link.collectionId!))
  if (!collection) throw notFound('collection')
  const versioned = { organizationId: link.organizationId, collectionId: collection.id }
  return { share, versioned, style: null, shown: { collection, request } }
}

/** A layer of a map, in the style of the map and no other. */
async function requireMapLayer(context: Context, share: OpenedShare, { profile }: LayerRequest): Promise<SharedLayer> {
  const { link, scope } = share
  if (scope.kind !== 'layer')
    throw problem(
      'bad-request',
      'This link shares a map, and tiles belong to a layer; use the tilejson URL of a layer in share.link.validate',
    )
  if (profile != null) throw invalidField('profile', 'cannot be chosen: a layer of a map is shown in the style of the map')
  const found = await context.shares.limit(() => shareTargets.findLayer(context.db, link, scope.layerId))
  if (!found) throw notFound('layer')
  const { layer, item, collection } = found
  const style = layer.style ?? {}
  if (item) return { share, style, ...(await itemLayer(context, share, item.seq, style)) }
  const versioned = { organizationId: link.organizationId, collectionId: collection!.id }
  return { share, style, versioned, shown: { collection: collection!, request: style } }
}

async function itemOf({ db }: Context, { link, scope }: OpenedShare): Promise<number> {
  if (scope.kind === 'asset') throw problem('bad-request', 'This grant is for a download')
  if (scope.kind === 'link') return link.itemSeq!
  if (scope.kind !== 'item' || !(await shareTargets.shows(db, link, scope.itemSeq))) throw notFound('item')
  return scope.itemSeq
}
