/** What caches of other people, such as a CDN, may keep of a public link, and the versions in its tile URLs. */
import { hash } from 'node:crypto'
import type { Versioned } from '#model/imagery/content-version.ts'
import type { ShareLink } from '#model/sharing/share-link.ts'
import type { Context } from '#operation.ts'

/** Not cached, because a link can be revoked at any time. */
const PRIVATE = 'private, no-store'
/** How long a shared cache keeps a tile whose URL does not name the current version. */
const UNVERSIONED_SECONDS = 60
const VERSION_LENGTH = 16

type CachingContext = Pick<Context, 'clock' | 'cdnSeconds'>

/** Only tiles of public links that were requested by version, or as the latest, can be kept by others; never after the link expires. */
export function cacheControlOf(
  { clock, cdnSeconds }: CachingContext,
  link: ShareLink,
  { version, current }: { version: string | null; current: string | null },
): string {
  const left = Math.floor((link.expiresAt.getTime() - clock.now().getTime()) / 1000)
  const seconds = Math.min(cdnSeconds, left)
  if (!link.isPublic || version === null || seconds <= 0) return PRIVATE
  if (version !== current) return `public, max-age=0, s-maxage=${Math.min(UNVERSIONED_SECONDS, seconds)}`
  return `public, max-age=${seconds}, s-maxage=${seconds}, immutable`
}

/** The same for all styles of an item, so that one document can list several; `style` is that of a map's layer, which has no other. */
export async function versionOf(
  { layers, raster }: Pick<Context, 'layers' | 'raster'>,
  { versioned, style }: { versioned: Versioned; style: object | null },
): Promise<string> {
  const content = await layers.versionOf(versioned)
  const shown = style ? ` ${JSON.stringify(style)}` : ''
  return hash('sha256', `${raster.renderingVersion} ${content}${shown}`, 'base64url').slice(0, VERSION_LENGTH)
}

/** Everything that identifies a tile is in the path: some caches ignore the query. */
export function publicTemplate(
  { baseUrl, grant, version, style }: { baseUrl: string; grant: string; version: string; style: string },
  place = '{z}/{x}/{y}',
  format = 'webp',
): string {
  const shown = style.startsWith('{') ? style : encodeURIComponent(style)
  return `${baseUrl}/api/v1/public/${grant}/${version}/${shown}/${place}.${format}`
}
