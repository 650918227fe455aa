/** Operations by their ids, typed by the generated client: `items.list_by_collection` is its method `items.listByCollection`. */
import type { Operations } from '../../../client/src/generated/operations.ts'

export type * from '../../../client/src/generated/types.ts'

type Camel<Word extends string> = Word extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Word
type At<Node, Path extends string> = Path extends `${infer Head}.${infer Tail}`
  ? Camel<Head> extends keyof Node
    ? At<Node[Camel<Head>], Tail>
    : never
  : Camel<Path> extends keyof Node
    ? Node[Camel<Path>]
    : never

type Paths<Node, Prefix extends string = ''> = {
  [Name in keyof Node & string]: Node[Name] extends (...args: never[]) => unknown
    ? `${Prefix}${Snake<Name>}`
    : Paths<Node[Name], `${Prefix}${Snake<Name>}.`>
}[keyof Node & string]
type Snake<Word extends string> = Word extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Word

type Domains = Omit<
  Operations,
  'call' | 'page' | 'lines' | 'text' | 'raw' | 'route' | 'get' | 'signIn' | 'signOut' | 'session' | 'baseUrl' | 'auth'
>

export type OperationId = Paths<Domains>
type Method<Id extends OperationId> = At<Operations, Id>
export type Input<Id extends OperationId> =
  Method<Id> extends (input: infer I, ...rest: never[]) => unknown ? NonNullable<I> : Record<string, never>
export type Output<Id extends OperationId> = Method<Id> extends (...args: never[]) => infer O ? Awaited<O> : never
