/** What the page asks of the service, and nothing else: no other address is ever asked. */

export interface Look {
  id: string
  label: string
  kind: string
  is_default: boolean
  description: string
}

export interface SharedFile {
  id: string
  key: string
  title: string | null
  file_name: string
  file_size_bytes: number | null
  url: string
}

export interface SharedItem {
  id: string
  name: string
  description: string | null
  type: string
  bbox: [number, number, number, number] | null
  geometry: GeoJSON.Geometry | null
  datetime: string | null
  cloud_cover: number | null
  gsd: number | null
  visualizations: Look[]
  /** Null where there is nothing to draw. */
  tilejson: string | null
  assets?: SharedFile[]
}

export interface SharedCollection {
  id: string
  name: string
  description: string | null
  items: SharedItem[]
  item_count: number
}

interface Session {
  grant: string
  grant_expires_at: string
}

export type Opened =
  | { permission: 'view' | 'download'; target_type: 'item'; target: SharedItem & Session }
  | { permission: 'view' | 'download'; target_type: 'collection'; target: SharedCollection & Session }

export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export async function openShare(credential: { token: string; password?: string }): Promise<Opened> {
  let response: Response
  try {
    response = await fetch('/v1/op/share.link.validate', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(credential) })
  } catch {
    throw new Refused(0, 'The service could not be reached. Check your connection and try again.')
  }
  if (response.ok) return (await response.json()) as Opened
  throw new Refused(response.status, await explain(response))
}

/** In words for somebody who was sent a link, not for somebody who writes programs. */
async function explain(response: Response): Promise<string> {
  const seconds = Number(response.headers.get('retry-after')) || 60
  switch (response.status) {
    case 401: return 'This password is not right, or the link has ended. Check the password, or ask the sender for a new link.'
    case 404: return 'What was shared here is no longer available. Ask the sender about it.'
    case 429: return `Too many attempts. Wait ${seconds} seconds, then try again.`
    case 503: return 'Many people are opening links right now. Try again in a moment.'
    default: return 'Something went wrong on our side. Try again in a moment.'
  }
}

/** The service names itself by its public address; this page asks the one that it came from. */
export function ownAddress(url: string): string {
  return location.origin + url.replace(/^https?:\/\/[^/]+/, '')
}
