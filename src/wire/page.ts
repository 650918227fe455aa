/** Numbered pages, as orders, licences and the glossary return them. */
import Type, { type TSchema } from 'typebox'
import { Closed, Defaulted } from '#core/shapes.ts'

/** A page deep in a list is a scan, so the page number is limited. */
const MAX_PAGE = 10_000
const MAX_SIZE = 100

export const pageFields = (size: number) => ({
  page: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_PAGE }), 0, { description: '0-based page number' }),
  size: Defaulted(Type.Integer({ minimum: 1, maximum: MAX_SIZE }), size, { description: 'Maximum entries per page' }),
})

/** `entries` names them in the plural, for the reference. */
export const PageOf = <T extends TSchema>(entry: T, entries: string) =>
  Closed({
    content: Type.Array(entry, { description: `${entries} of this page` }),
    page: Type.Integer({ description: '0-based page number' }),
    size: Type.Integer({ description: 'Maximum entries per page' }),
    totalElements: Type.Integer({ description: 'Total number of entries' }),
    totalPages: Type.Integer({ description: 'Total number of pages' }),
  })

/** One page of a list in memory. */
export function pageOf<T>(all: readonly T[], { page, size }: { page: number; size: number }) {
  return {
    content: all.slice(page * size, (page + 1) * size),
    page,
    size,
    totalElements: all.length,
    totalPages: Math.ceil(all.length / size),
  }
}
