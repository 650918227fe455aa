import type { Rows } from '../rows.ts'
import { ANYBODY } from '../statuses.ts'

export const rows: Rows = {
  'glossary.collections.get': { ...ANYBODY, input: () => ({ collection_name: 'sandbox-hr' }), breaks: null },
  'glossary.collections.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'glossary.data_products.get': { ...ANYBODY, input: () => ({ data_product_name: 'sandbox-hr-archive' }), breaks: null },
  'glossary.data_products.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'glossary.providers.get': { ...ANYBODY, input: () => ({ provider_name: 'groundtrack-sandbox' }), breaks: null },
  'glossary.providers.list': { ...ANYBODY, input: () => ({}), breaks: null },
}
