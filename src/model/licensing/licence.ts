/** Licences of products: an organization accepts each document once, and orders require it. */
import { hash } from 'node:crypto'
import { problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Licence, LicenceDocument, Product } from '#ports/vendors/source.ts'

const COLUMNS = ['document_id as documentId', 'document_sha256 as documentSha256', 'accepted_at as acceptedAt'] as const

type Acceptance = Row<'licence_acceptance', typeof COLUMNS>

const hashOf = ({ text }: LicenceDocument): Buffer => hash('sha256', text, 'buffer')

/** The current acceptances of an organization, by document. */
export type Acceptances = ReadonlyMap<string, Acceptance>

export async function acceptances(db: Db | Tx, organizationId: string): Promise<Acceptances> {
  const rows = await db
    .selectFrom('licence_acceptance')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where('withdrawn_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.documentId, row]))
}

/**
 * When a document was accepted, or null. An acceptance is valid for the exact text: the same document with another text must be
 * accepted again.
 */
export function acceptedAt(accepted: Acceptances, document: LicenceDocument): Date | null {
  const acceptance = accepted.get(document.id)
  return acceptance?.documentSha256.equals(hashOf(document)) ? acceptance.acceptedAt : null
}

/** Accepting again changes nothing, not even the user who accepted. */
export async function accept(
  tx: Tx,
  organizationId: string,
  { licence, document, userId }: { licence: Licence; document: LicenceDocument; userId: string | null },
  now: Date,
): Promise<void> {
  const values = {
    licence_id: licence.id,
    document_sha256: hashOf(document),
    accepted_by: userId,
    accepted_at: now,
    withdrawn_at: null,
  }
  await tx
    .insertInto('licence_acceptance')
    .values({ org_id: organizationId, document_id: document.id, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'document_id'])
        .doUpdateSet(values)
        .where((where) =>
          where.or([
            where('licence_acceptance.withdrawn_at', 'is not', null),
            where('licence_acceptance.document_sha256', '<>', values.document_sha256),
          ]),
        ),
    )
    .execute()
}

export async function withdraw(tx: Tx, organizationId: string, documentId: string, now: Date): Promise<void> {
  await tx
    .updateTable('licence_acceptance')
    .set({ withdrawn_at: now })
    .where('org_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('withdrawn_at', 'is', null)
    .execute()
}

/** Rejects an order of a product whose current licence the organization has not accepted. */
export async function requireLicences(
  db: Db | Tx,
  organizationId: string,
  product: Pick<Product, 'title' | 'licenceId'>,
  licences: { licence(id: string): Licence | null },
): Promise<void> {
  const licence = product.licenceId === null ? null : licences.licence(product.licenceId)
  const [document] = licence?.documents ?? []
  if (!licence || !document) return
  if (acceptedAt(await acceptances(db, organizationId), document)) return
  throw problem(
    'licence-acceptance-required',
    `'${product.title}' requires '${licence.name}', version ${document.version}, which the organization has not accepted`,
    { members: { eula_id: licence.id, document_id: document.id, licence: licence.name } },
  )
}
