import type { OrderGroup } from '../../api/contract.ts'

/** A requirement of an order group; groups of different products have different ones. */
export const paramOf = (group: OrderGroup | undefined, name: string): unknown =>
  (group?.params as Record<string, unknown> | undefined)?.[name]
