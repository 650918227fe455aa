export { compileExpression, scalesOf, type BandScale, type CompiledExpression } from './compile.ts'
export { ExpressionError } from './error.ts'
export { MAX_BAND, MAX_CHARACTERS, MAX_DEPTH } from './limits.ts'
export { parseExpression, type Expression, type Node } from './parse.ts'
