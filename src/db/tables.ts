/** All tables as the migrations leave them, by subject. Enumerations match the check constraints. */
import type { Kysely, Transaction } from 'kysely'
import type { EventsTables } from './tables/events.ts'
import type { IdentityTables } from './tables/identity.ts'
import type { ImageryTables } from './tables/imagery.ts'
import type { LicensingTables } from './tables/licensing.ts'
import type { MoneyTables } from './tables/money.ts'
import type { OrderTables } from './tables/orders.ts'
import type { PlansTables } from './tables/plans.ts'
import type { PlatformTables } from './tables/platform.ts'
import type { ProcessingTables } from './tables/processing.ts'
import type { SceneTables } from './tables/scenes.ts'
import type { SharingTables } from './tables/sharing.ts'
import type { SsoTables } from './tables/sso.ts'
import type { VendorTables } from './tables/vendors.ts'

export interface Tables
  extends
    EventsTables,
    IdentityTables,
    ImageryTables,
    LicensingTables,
    MoneyTables,
    OrderTables,
    PlansTables,
    PlatformTables,
    ProcessingTables,
    SceneTables,
    SharingTables,
    SsoTables,
    VendorTables {}

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>
