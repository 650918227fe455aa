/** Preview images of scenes, as their hosts provide them. */
import { createHash } from 'node:crypto'
import { notFound, problem } from '#core/problem.ts'
import type { Context, RawReply } from '#operation.ts'
import { FOR_A_DAY, pictureReply } from '#wire/tile.ts'
import { requireSource } from './search.lib.ts'

type PreviewContext = Pick<Context, 'vendors' | 'signal' | 'ifNoneMatch'>

export async function previewOf(
  { vendors, signal, ifNoneMatch }: PreviewContext,
  { host_name, image_id }: { host_name: string; image_id: string },
  kind: 'thumbnail' | 'overview',
): Promise<RawReply> {
  const catalog = vendors.catalog(requireSource(vendors, host_name).hostName)
  const scene = await catalog.scene(image_id, { signal })
  if (!scene) throw notFound('scene')
  const preview = await catalog.picture(scene, kind, { signal })
  if (!preview) throw problem('not-found', 'The host has no preview of this scene')
  const etag = `"${createHash('sha256').update(preview.bytes).digest('base64url').slice(0, 27)}"`
  const isUnchanged = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true
  return pictureReply({ etag, contentType: preview.contentType, body: isUnchanged ? null : preview.bytes }, FOR_A_DAY)
}
