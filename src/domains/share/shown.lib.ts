/** The one item that a tile operation is about, decided anew on every call. */
import { notFound, problem } from '#core/problem.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import type { OpenedShare } from '#context.ts'
import type { Context } from '#operation.ts'
import { choiceOf, resolveLook, type ResolvedLook } from '#services/drawing/look.ts'

export async function requireShown(
  context: Context,
  input: { token: string; password?: string; profile?: string | null },
): Promise<{ share: OpenedShare; resolved: ResolvedLook }> {
  const share = await context.shares.open(input.token, input.password ?? '')
  const request = { profile: input.profile }
  const layer = await context.shares.limit(async () => itemLayers.find(context.db, await itemOf(context, share), choiceOf(request)))
  if (!layer) throw notFound('item')
  return { share, resolved: await resolveLook(context, layer, request) }
}

async function itemOf({ db }: Context, { link, scope }: OpenedShare): Promise<number> {
  if (scope.kind === 'asset') throw problem('bad-request', 'This grant is for a download')
  if (scope.kind === 'link') {
    if (link.itemSeq === null)
      throw problem(
        'bad-request',
        'This link shares a collection, and tiles are of one item: take the address of its TileJSON from share.link.validate',
      )
    return link.itemSeq
  }
  if (!(await shareTargets.shows(db, link, scope.itemSeq))) throw notFound('item')
  return scope.itemSeq
}
