import Type from 'typebox'
import { Closed, Described, NotBlank, Nullable } from '#core/shapes.ts'
import * as drafts from '#model/orders/draft.ts'
import { operation } from '#operation.ts'
import { capturesOf, DraftRecord, EXAMPLE_DRAFT, EXAMPLE_DRAFT_CAPTURE, NewCaptures, ownerOf, toRecord } from './drafts.wire.ts'

/**
 * Saves the cart, or a draft order by name, and replaces the earlier one. Nothing is priced, reserved or ordered. With `version`, 409 if
 * it has changed since, for example on another device.
 */
export default operation({
  id: 'orders.drafts.save',
  scope: 'orders:write',
  tier: 'compute',
  maxBodyBytes: 1024 * 1024,
  input: Closed({
    name: Described(Type.Optional(Nullable(NotBlank(255))), 'Name of the draft; the cart if omitted'),
    captures: NewCaptures,
    version: Type.Optional(
      Nullable(Type.Integer({ minimum: 0, description: 'The version that the change is based on; 0 for a draft that does not exist' })),
    ),
  }),
  output: Closed({ draft: DraftRecord }, { description: 'The saved draft' }),
  example: {
    input: { name: EXAMPLE_DRAFT.name, captures: [EXAMPLE_DRAFT_CAPTURE], version: 0 },
    output: { draft: EXAMPLE_DRAFT },
  },
}).handle({
  async check({ principal }, { captures }) {
    return { owner: ownerOf(principal), captures: await capturesOf(captures) }
  },
  async execute({ tx, clock, attributeTo }, { name, version }, { owner, captures }) {
    attributeTo(owner.organizationId)
    const draft = { name: name?.trim() ?? null, captures, version: version ?? undefined }
    return { draft: toRecord(await drafts.save(tx, owner, draft, clock.now())) }
  },
})
