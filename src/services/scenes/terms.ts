/** Under which terms a scene can be used and who must be named: as its host states it, or else as the registry does. */
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source, SourceCollection, Terms } from '#ports/vendors/source.ts'

export interface SceneTerms {
  /** For STAC: an SPDX identifier, or `other`. */
  readonly license: string
  /** For people; null if unknown. */
  readonly name: string | null
  readonly url: string | null
  readonly attribution: string
}

/** The pattern of STAC for SPDX identifiers. */
const SPDX = /^[\w.+-]+$/
/** What STAC has instead of an identifier; a link leads to the terms. */
const PLACEHOLDERS: readonly unknown[] = ['proprietary', 'various', 'other']

export function termsOf(source: Source, scene: Scene): SceneTerms {
  const registered = registeredTerms(source, collectionOf(source, scene))
  const { license: stated, attribution } = scene.properties
  const name = [stated, registered.license].find(isName) ?? null
  return {
    license: name !== null && SPDX.test(name) ? name : 'other',
    name,
    url: scene.licenseUrl ?? (isName(stated) && stated !== registered.license ? null : registered.licenseUrl),
    attribution: isText(attribution) ? attribution : withYear(registered.attribution, scene.datetime),
  }
}

/** As properties of a STAC item. The name is stated only if it is not the identifier. */
export const termsProperties = ({ license, name, url, attribution }: SceneTerms) => ({
  license,
  attribution,
  ...(name === null || name === license ? {} : { 'svc:license_name': name }),
  ...(url === null ? {} : { 'svc:license_url': url }),
})

/** STAC 1.0 has `proprietary` for all terms without an SPDX identifier, so it does not contradict a source with such terms. */
export function isOpenlyLicensed(source: Source, scene: Scene): boolean {
  const { license } = registeredTerms(source, collectionOf(source, scene))
  const { license: stated } = scene.properties
  return (isText(stated) ? stated : license) !== 'proprietary' || !SPDX.test(license)
}

/** Of a collection, for scenes of any year. */
export function termsOfCollection(source: Source, collection: SourceCollection): Terms {
  const terms = registeredTerms(source, collection)
  return { ...terms, attribution: withYear(terms.attribution, null) }
}

export const attributionOfSource = ({ attribution }: Source): string => withYear(attribution, null)

const registeredTerms = ({ attribution, license, licenseUrl }: Source, collection: SourceCollection | undefined): Terms =>
  collection?.terms ?? { attribution, license, licenseUrl }

const collectionOf = ({ collections }: Source, { collection }: Scene) => collections.find(({ id }) => id === collection)

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isName = (value: unknown): value is string => isText(value) && !PLACEHOLDERS.includes(value)

/** Some terms require the year of acquisition; the registry has `{year}` in its place. */
const withYear = (attribution: string, datetime: string | null): string =>
  attribution.replaceAll(/ ?\{year\}/g, datetime === null ? '' : ` ${datetime.slice(0, 4)}`)
