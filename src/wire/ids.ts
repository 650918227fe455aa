import Type from 'typebox'
import { MAX_ID_LENGTH } from '#model/imagery/item-read.ts'

/** An item's id is its owner's own where it was brought along, so it may be any short text; a collection is named in the same fields. */
export const ItemId = Type.String({ minLength: 1, maxLength: MAX_ID_LENGTH })
