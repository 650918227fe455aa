import type { World } from '../../support/world.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, READS_OWN } from '../statuses.ts'

const eula = ({ platform }: World) => platform.services.vendors.licences[0]!
const document = (w: World) => ({ eula_id: eula(w).id, document_id: eula(w).documents[0]!.id })

export const rows: Rows = {
  'eulas.document.accept': {
    input: document,
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table licence_acceptance',
  },
  'eulas.document.get': { ...READS_OWN, input: document, breaks: 'table licence_acceptance' },
  'eulas.documents.list': { ...READS_OWN, input: (w) => ({ eula_id: eula(w).id }), breaks: 'table licence_acceptance' },
  'eulas.get': { ...READS_OWN, input: (w) => ({ eula_id: eula(w).id }), breaks: 'table licence_acceptance' },
  'eulas.list': { ...READS_OWN, input: () => ({}), breaks: 'table licence_acceptance' },
}
