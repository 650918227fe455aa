import Type from 'typebox'
import { Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { notFound } from '#core/problem.ts'
import { acceptedAt, type Acceptances } from '#model/licensing/licence.ts'
import type { Licence, LicenceDocument } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

export const EulaId = Type.String({ minLength: 1, maxLength: 100, description: 'Licence ID' })
export const DocumentId = Type.String({ minLength: 1, maxLength: 100, description: 'Document ID' })

export const EulaRecord = Closed(
  {
    id: Described(Uuid, 'Licence ID'),
    name: Type.String({ description: 'Licence name' }),
    data_products: Type.Array(
      Closed({
        id: Described(Uuid, 'Data product ID'),
        name: Type.String({ description: 'Data product name' }),
        title: Type.String({ description: 'Data product title' }),
      }),
      {
        description: 'Data products sold under the licence',
      },
    ),
    accepted: Type.Boolean({ description: 'Whether the organization has accepted the current version' }),
    accepted_at: Described(Nullable(Timestamp), 'Time the organization accepted the licence; null if it has not'),
    current_document_id: Type.String({ format: 'uuid', description: 'ID of the document version to accept' }),
    created_at: Described(Timestamp, 'Creation time'),
  },
  { $id: 'Eula', description: 'A licence agreement' },
)

const documentFields = {
  id: Described(Uuid, 'Document ID'),
  eula_id: Described(Uuid, 'Licence ID'),
  version: Type.String({ description: 'Document version' }),
  language: Type.String({ description: 'Language as an ISO 639 code' }),
  valid_from: Described(Timestamp, 'Time from which the version applies'),
  is_current: Type.Boolean({ description: 'Whether this is the version to accept' }),
  accepted: Type.Boolean({ description: 'Whether the organization has accepted this version' }),
  accepted_at: Described(Nullable(Timestamp), 'Time the organization accepted the document; null if it has not'),
}

export const DocumentEntry = Closed(documentFields, { $id: 'EulaDocumentEntry', description: 'A version of a licence agreement' })
export const DocumentRecord = Closed(
  {
    ...documentFields,
    text: Type.String({ description: 'Licence text' }),
    url: Nullable(Type.String({ description: 'URL of the published licence; null if not published' })),
  },
  { $id: 'EulaDocument', description: 'A version of a licence agreement, with its text' },
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
