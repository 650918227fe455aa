/** A simulated vendor in the hands of the scenario: what it sells, and what can go wrong with it. Each adapter has one. */
import type { TestContext } from 'node:test'
import type { Registry } from '#adapters/vendors/registry.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { AccountSecret, ExchangeRate } from '#ports/vendors/source.ts'

export interface VendorSetup {
  readonly clock: Clock
  readonly workDir: string
  readonly exchange: ReadonlyMap<string, ExchangeRate>
}

export interface SimulatedVendor {
  readonly hostName: string
  readonly sources: Registry
  readonly egressAllow: readonly string[]
  /** What an account needs, and the same with a wrong value. */
  readonly secret: AccountSecret
  readonly wrongSecret: AccountSecret
  /** Never in a response, a log or the database. */
  readonly secretText: string
  readonly currency: string
  readonly isCancellable: boolean
  /** Whether its API has prices and says what it charged; otherwise the operator sets them, and a contract decides. */
  readonly statesPrices: boolean
  /** Whether orders state what they cost; as `statesPrices` if it is not set. */
  readonly statesCharges?: boolean
  /** Whether searches show prices; true if it is not set. */
  readonly hasSearchPrices?: boolean
  /** Scenes of one area in one order. */
  readonly scenesPerOrder: number
  /** Seconds that an order stays in one state. */
  readonly stepSeconds: number
  /** The name that the vendor has for orders that it works on. */
  readonly states: number
  /** An area of which nothing can be ordered. */
  readonly refusedArea: { readonly geometry: AreaGeometry; readonly reason: RegExp }
  /** What it says when the account must not buy. */
  readonly budgetReason: RegExp
  orderCount(): number
  /** Of the order that was placed last, with the assets that they become. */
  lastFiles(): Promise<{ key: string; role: string; bytes: Buffer }[]>
  /** Whether another host than the API received the credential. */
  leaked(): boolean
  readonly faults: {
    losePlacement(): void
    refuseCredential(requests: number): void
    refuseBudget(): void
    expireLink(): void
    breakTransfer(): void
    /** Null: as it is. */
    setState(state: string | null): void
    limitRequests(requests: number): void
    /** Lies that the next order must not survive; `undo` ends them. */
    readonly lies: Readonly<Record<string, { tell(): void; undo(): void; reason: RegExp; isPlaced: boolean }>>
  }
  close(): Promise<void>
}

export type StartVendor = (t: TestContext, setup: VendorSetup) => Promise<SimulatedVendor>
