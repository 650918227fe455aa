/** The item of a share link that a tile operation renders. Access is checked on every call. */
import { notFound, problem } from '#core/problem.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import type { OpenedShare } from '#context.ts'
import type { Context } from '#operation.ts'
import { choiceOf, styleLayer, type StyledLayer } from '#services/rendering/styled-layer.ts'

export async function requireSharedLayer(
  context: Context,
  input: { token: string; password?: string; profile?: string | null },
): Promise<{ share: OpenedShare; styled: StyledLayer }> {
  const share = await context.shares.open(input.token, input.password ?? '')
  const request = { profile: input.profile }
  const layer = await context.shares.limit(async () => itemLayers.find(context.db, await itemOf(context, share), choiceOf(request)))
  if (!layer) throw notFound('item')
  return { share, styled: await styleLayer(context, layer, request) }
}

async function itemOf({ db }: Context, { link, scope }: OpenedShare): Promise<number> {
  if (scope.kind === 'asset') throw problem('bad-request', 'This grant is for a download')
  if (scope.kind === 'link') {
    if (link.itemSeq === null)
      throw problem(
        'bad-request',
        'This link shares a collection, and tiles belong to an item; use the tilejson URL of an item in share.link.validate',
      )
    return link.itemSeq
  }
  if (!(await shareTargets.shows(db, link, scope.itemSeq))) throw notFound('item')
  return scope.itemSeq
}
