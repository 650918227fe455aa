/** Who must be named when an item is shown, and under which licence it can be used. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

const MAX_LENGTH = 500
/** Different attributions in one collection; more would not fit on a map. */
const MAX_ATTRIBUTIONS = 10

type Properties = Readonly<Record<string, unknown>>

/** From the STAC properties: `attribution`, or the names of `providers`. Null if none is stated. */
export function attributionOf({ attribution, providers }: Properties): string | null {
  const names = Array.isArray(providers) ? providers.map((provider: unknown) => (provider as { name?: unknown } | null)?.name) : []
  return joined(typeof attribution === 'string' ? [attribution] : names)
}

/** What STAC has instead of the identifier of a licence. */
const PLACEHOLDERS: readonly unknown[] = ['proprietary', 'various', 'other']

interface License {
  readonly name: string | null
  readonly url: string | null
}

/** As people read it; null where nothing is stated. */
export function licenseOf(properties: Properties): License {
  const { license, 'svc:license_name': name, 'svc:license_url': url } = properties
  const stated = [name, license].find((each) => isText(each) && !PLACEHOLDERS.includes(each)) as string | undefined
  return { name: stated?.slice(0, MAX_LENGTH) ?? null, url: webUrl(url) }
}

/** Properties come from outside, so they can contain any text. */
export function webUrl(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url && ['https:', 'http:'].includes(url.protocol) ? (value as string) : null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

function joined(parts: readonly unknown[]): string | null {
  const texts = parts.filter(isText)
  return texts.length > 0 ? texts.join(' · ').slice(0, MAX_LENGTH) : null
}

/** Attribution and licence in one line, for maps. */
const mapAttributionOf = (properties: Properties): string | null => joined([attributionOf(properties), licenseOf(properties).name])

const STATED = sql.raw(`jsonb_build_object('attribution', properties -> 'attribution', 'providers', properties -> 'providers',
  'license', properties -> 'license', 'svc:license_name', properties -> 'svc:license_name')`)

/** Of one item, for callers who have checked access. */
export async function mapAttributionFor(db: Db, itemSeq: number): Promise<string | null> {
  const { rows } = await sql<{ stated: Properties }>`select ${STATED} as stated from item where seq = ${itemSeq}`.execute(db)
  return rows[0] ? mapAttributionOf(rows[0].stated) : null
}

/** Of the newest items of a collection, each once. */
export async function mapAttributionOfCollection(db: Db, collectionId: string): Promise<string | null> {
  const { rows } = await sql<{ stated: Properties }>`
    select stated from (
      select ${STATED} as stated, datetime, seq from item
      where collection_id = ${collectionId} and deleted_at is null order by datetime desc nulls last, seq desc limit 1000
    ) as newest group by stated order by count(*) desc limit ${MAX_ATTRIBUTIONS}
  `.execute(db)
  const texts = [...new Set(rows.map(({ stated }) => mapAttributionOf(stated)).filter((text) => text !== null))]
  return texts.length > 0 ? texts.join('; ').slice(0, MAX_LENGTH) : null
}
