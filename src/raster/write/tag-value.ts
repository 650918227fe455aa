/** A tag to write. `offset` values are as wide as the file's pointers. */
export type TagValue =
  | { readonly tag: number; readonly type: 'short' | 'long' | 'double' | 'offset'; readonly values: readonly number[] }
  | { readonly tag: number; readonly type: 'ascii'; readonly text: string }
