import Type from 'typebox'
import { MAX_ID_LENGTH } from '#model/imagery/item-read.ts'

/** An imported item keeps its own ID, so it can be any short string; the same fields accept collection IDs. */
export const ItemId = Type.String({ minLength: 1, maxLength: MAX_ID_LENGTH })
