/** Preview images of scenes, as their hosts provide them. */
import { createHash } from 'node:crypto'
import { notFound, problem } from '#core/problem.ts'
import type { Context, RawReply } from '#operation.ts'
import { FOR_A_DAY, imageReply } from '#wire/tile.ts'
import { requireUsable } from './search.lib.ts'

type PreviewContext = Pick<Context, 'db' | 'principal' | 'vendors' | 'signal' | 'ifNoneMatch'>

export async function previewOf(
  context: PreviewContext,
  { host_name, image_id }: { host_name: string; image_id: string },
  kind: 'thumbnail' | 'overview',
): Promise<RawReply> {
  const { vendors, signal, ifNoneMatch } = context
  const { source, accountId } = await requireUsable(context, host_name)
  const catalog = vendors.catalog(source.hostName, accountId)
  const scene = await catalog.scene(image_id, { signal })
  if (!scene) throw notFound('scene')
  const preview = await catalog.preview(scene, kind, { signal })
  if (!preview) throw problem('not-found', 'The host has no preview of this scene')
  const etag = `"${createHash('sha256').update(preview.bytes).digest('base64url').slice(0, 27)}"`
  const isUnchanged = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true
  return imageReply({ etag, contentType: preview.contentType, body: isUnchanged ? null : preview.bytes }, FOR_A_DAY)
}
