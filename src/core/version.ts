import { readFileSync } from 'node:fs'

/** Of the product, as in its package. The contract has a version of its own, in the OpenAPI document. */
export const VERSION = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
