import Type from 'typebox'
import { DAY_MS } from '#core/time.ts'
import { Choice, Closed, Defaulted, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { LIFECYCLE_STATES } from '#core/vocabulary.ts'
import * as retention from '#model/imagery/retention.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const MAX_LISTED = 1_000

/** Operators only: items of all organizations whose lifecycle state changes within some days, soonest first; `total` counts all. */
export default operation({
  id: 'items.list_expiring',
  scope: 'admin:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ days: Defaulted(Type.Integer({ minimum: 0, maximum: 3_650 }), 7) }),
  output: Closed({
    items: Type.Array(
      Closed({
        id: Type.String(),
        organization_id: Uuid,
        project_id: Uuid,
        name: Type.String(),
        lifecycle_state: Choice(LIFECYCLE_STATES),
        next_state: Nullable(Choice(LIFECYCLE_STATES)),
        due_at: Timestamp,
      }),
    ),
    total: Type.Integer(),
  }),
  example: {
    input: { days: 7 },
    output: {
      items: [
        {
          id: EXAMPLE_ITEM.id,
          organization_id: EXAMPLE_IDS.organization,
          project_id: EXAMPLE_ITEM.project_id,
          name: EXAMPLE_ITEM.name,
          lifecycle_state: 'active',
          next_state: 'expiring',
          due_at: '2026-03-24T09:45:00.000Z',
        },
      ],
      total: 1,
    },
  },
}).handle({
  async execute({ db, clock }, { days }) {
    const { items, total } = await retention.listDue(db, new Date(clock.now().getTime() + days * DAY_MS), MAX_LISTED)
    return {
      items: items.map((item) => ({
        id: item.id,
        organization_id: item.organizationId,
        project_id: item.projectId,
        name: item.name,
        lifecycle_state: item.lifecycleState,
        next_state: item.nextState,
        due_at: item.dueAt.toISOString(),
      })),
      total,
    }
  },
})
