/** Pictures of scenes, as their hosts keep them. */
import { createHash } from 'node:crypto'
import { notFound, problem } from '#core/problem.ts'
import type { Context, RawReply } from '#operation.ts'
import { FOR_A_DAY, pictureReply } from '#wire/tile.ts'
import { requireSource } from './search.lib.ts'

type Asking = Pick<Context, 'vendors' | 'signal' | 'ifNoneMatch'>

export async function pictureOf(
  { vendors, signal, ifNoneMatch }: Asking,
  { host_name, image_id }: { host_name: string; image_id: string },
  kind: 'thumbnail' | 'overview',
): Promise<RawReply> {
  const catalog = vendors.catalog(requireSource(vendors, host_name).hostName)
  const scene = await catalog.scene(image_id, { signal })
  if (!scene) throw notFound('scene')
  const picture = await catalog.picture(scene, kind, { signal })
  if (!picture) throw problem('not-found', 'The host has no picture of this scene')
  const etag = `"${createHash('sha256').update(picture.bytes).digest('base64url').slice(0, 27)}"`
  const isKnown = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true
  return pictureReply({ etag, contentType: picture.contentType, body: isKnown ? null : picture.bytes }, FOR_A_DAY)
}
