/** The item or collection of a share link that a tile operation renders. Access is checked on every call. */
import { notFound, problem } from '#core/problem.ts'
import * as collections from '#model/imagery/collection.ts'
import type { Versioned } from '#model/imagery/content-version.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import type { OpenedShare } from '#context.ts'
import type { Context } from '#operation.ts'
import { rejectSavedProfile } from '#services/rendering/collection.ts'
import { choiceOf, styleLayer, type StyledLayer } from '#services/rendering/styled-layer.ts'

export interface SharedLayer {
  share: OpenedShare
  /** Its tiles change with it. */
  versioned: Versioned
  shown: { styled: StyledLayer } | { collection: collections.Collection }
}

export async function requireSharedLayer(
  context: Context,
  input: { token: string; password?: string; profile?: string | null },
): Promise<SharedLayer> {
  const share = await context.shares.open(input.token, input.password ?? '')
  const { organizationId, collectionId } = share.link
  const request = { profile: input.profile }
  if (share.scope.kind === 'link' && collectionId !== null) return await requireCollection(context, share, request)
  const itemSeq = await context.shares.limit(() => itemOf(context, share))
  const layer = await context.shares.limit(() => itemLayers.find(context.db, itemSeq, choiceOf(request)))
  if (!layer) throw notFound('item')
  return { share, versioned: { organizationId, itemSeq }, shown: { styled: await styleLayer(context, layer, request) } }
}

/** A collection has a layer of its own only in a public link; otherwise its items are shown one at a time. */
async function requireCollection(
  { db, shares }: Context,
  share: OpenedShare,
  request: { profile: string | null | undefined },
): Promise<SharedLayer> {
  const { link } = share
  if (!link.isPublic)
    throw problem(
      'bad-request',
      'This link shares a collection, and tiles belong to an item; use the tilejson URL of an item in share.link.validate',
    )
  rejectSavedProfile(request)
  const collection = await shares.limit(() => collections.find(db, link.collectionId!))
  if (!collection) throw notFound('collection')
  return { share, versioned: { organizationId: link.organizationId, collectionId: collection.id }, shown: { collection } }
}

async function itemOf({ db }: Context, { link, scope }: OpenedShare): Promise<number> {
  if (scope.kind === 'asset') throw problem('bad-request', 'This grant is for a download')
  if (scope.kind === 'link') return link.itemSeq!
  if (!(await shareTargets.shows(db, link, scope.itemSeq))) throw notFound('item')
  return scope.itemSeq
}
