import Type from 'typebox'
import { Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { notFound } from '#core/problem.ts'
import { acceptedAt, type Acceptances } from '#model/licensing/licence.ts'
import type { Licence, LicenceDocument, Vendors } from '#ports/vendors.ts'

export const EulaId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of a licence agreement' })
export const DocumentId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of a version of its text' })

export const EulaRecord = Closed(
  {
    id: Uuid,
    name: Type.String(),
    data_products: Type.Array(Closed({ id: Uuid, name: Type.String(), title: Type.String() }), {
      description: 'Products that are sold under it',
    }),
    accepted: Type.Boolean({ description: 'Whether the organization has accepted the present version' }),
    accepted_at: Nullable(Timestamp),
    current_document_id: Type.String({ format: 'uuid', description: 'The version that must be accepted' }),
    created_at: Timestamp,
  },
  { $id: 'Eula' },
)

const documentFields = {
  id: Uuid,
  eula_id: Uuid,
  version: Type.String(),
  language: Type.String(),
  valid_from: Timestamp,
  is_current: Type.Boolean({ description: 'Whether this is the version that must be accepted' }),
  accepted: Type.Boolean({ description: 'Whether the organization has accepted this very text' }),
  accepted_at: Nullable(Timestamp),
}

export const DocumentEntry = Closed(documentFields, { $id: 'EulaDocumentEntry' })
export const DocumentRecord = Closed(
  {
    ...documentFields,
    text: Type.String({ description: 'What the licence says' }),
    url: Nullable(Type.String({ description: 'Where it is published; null where the text is all there is' })),
  },
  { $id: 'EulaDocument' },
)

export function requireEula(vendors: Vendors, id: string): Licence {
  const licence = vendors.licence(id)
  if (!licence) throw notFound('licence agreement')
  return licence
}

export function requireDocument(vendors: Vendors, eulaId: string, documentId: string): { licence: Licence; document: LicenceDocument } {
  const licence = requireEula(vendors, eulaId)
  const document = licence.documents.find(({ id }) => id === documentId)
  if (!document) throw notFound('document of this licence agreement')
  return { licence, document }
}

export function toEula(vendors: Vendors, { id, name, createdAt, documents }: Licence, accepted: Acceptances) {
  const current = documents[0]!
  const at = acceptedAt(accepted, current)
  return {
    id,
    name,
    data_products: vendors.products
      .filter(({ licenceId }) => licenceId === id)
      .map((product) => ({ id: product.id, name: product.name, title: product.title })),
    accepted: at !== null,
    accepted_at: at?.toISOString() ?? null,
    current_document_id: current.id,
    created_at: createdAt,
  }
}

export function toEntry(licence: Licence, document: LicenceDocument, accepted: Acceptances) {
  const at = acceptedAt(accepted, document)
  return {
    id: document.id,
    eula_id: licence.id,
    version: document.version,
    language: document.language,
    valid_from: document.validFrom,
    is_current: document.id === licence.documents[0]!.id,
    accepted: at !== null,
    accepted_at: at?.toISOString() ?? null,
  }
}

export const toDocument = (licence: Licence, document: LicenceDocument, accepted: Acceptances) => ({
  ...toEntry(licence, document, accepted),
  text: document.text,
  url: null,
})

export const EXAMPLE_EULA = {
  id: '0199f2d9-0000-7000-8000-000000000001',
  name: 'Licence for analysis',
  data_products: [{ id: '0199f2d9-0000-7000-8000-000000000002', name: 'hr-analytic', title: 'Archive for analysis, 3 m' }],
  accepted: false,
  accepted_at: null,
  current_document_id: '0199f2d9-0000-7000-8000-000000000003',
  created_at: '2026-01-05T00:00:00.000Z',
}
export const EXAMPLE_ENTRY = {
  id: EXAMPLE_EULA.current_document_id,
  eula_id: EXAMPLE_EULA.id,
  version: '2.0',
  language: 'en',
  valid_from: '2026-03-01T00:00:00.000Z',
  is_current: true,
  accepted: false,
  accepted_at: null,
}
export const EXAMPLE_DOCUMENT = { ...EXAMPLE_ENTRY, text: '1. This licence covers …', url: null }
