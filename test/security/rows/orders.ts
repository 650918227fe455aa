import { newId } from '#core/ids.ts'
import { features, grant, scenes, square } from '../../orders/support.ts'
import type { Org, World } from '../../support/world.ts'
import { other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, NOBODY, OPERATORS_ANYWHERE, READS_A_PROJECT, READS_OWN } from '../statuses.ts'

const WINDOW = { acquisitionStart: '2030-02-01T00:00:00Z', acquisitionEnd: '2030-02-10T00:00:00Z' }
const area = features(square(2.3, 48.2, 0.005))
const tasked = (dataProduct = 'sandbox-vhr-tasking') => ({ dataProduct, featureCollection: area, params: WINDOW })

const captures = async (w: World) => [{ id: (await scenes(w))[0]!.id, geometry: square(), host: 'sandbox-hr' }]

/** A tasking order, which costs nothing to make. */
const order = async (w: World, org: Org, product?: string): Promise<string> =>
  (await w.ok(org.owner.token, 'orders.tasking.place', { projectId: org.projectId, groups: [tasked(product)] })).id as string

const byOrderId = async (w: World, org: Org) => ({ order_id: await order(w, org) })
const waitingStudy = async (w: World, org: Org) => {
  const { content } = await w.ok(org.owner.token, 'orders.tasking.feasibility_studies.list', { orderId: await order(w, org) })
  return content[0].id as string
}
const options = [{ description: 'Soon', credits: 5, acquisitionStart: '2030-02-01T00:00:00Z', acquisitionEnd: '2030-02-02T00:00:00Z' }]
/** Answered by staff; its organization can pay for it. */
const answeredStudy = async (w: World, org: Org) => {
  await grant(w, org, 1_000)
  const study = await w.ok(await w.serviceToken(), 'orders.tasking.study_answer', { study_id: await waitingStudy(w, org), options })
  return { study_id: study.id as string, acceptedOptionId: study.options[0].id as string }
}
const issuedQuotation = async (w: World, org: Org) => {
  await grant(w, org, 1_000)
  const order_id = await order(w, org, 'sandbox-vhr-quoted')
  const quotation = await w.ok(await w.serviceToken(), 'orders.tasking.quotation_issue', { order_id, credits: 5 })
  return { quotation_id: quotation.id as string, decision: 'ACCEPTED' }
}
const acceptedOrder = async (w: World, org: Org) => {
  const { quotation_id, decision } = await issuedQuotation(w, org)
  const { orderId } = await w.ok(org.owner.token, 'orders.tasking.quotation_decide', { quotation_id, decision })
  return orderId as string
}
const template = {
  name: 'x',
  resolution: '0.5 m',
  sensor: 'sandbox-vhr',
  capture_frequency: 'once',
  datum: 'WGS84',
  file_format: 'COG',
}

const otherOrder = other('order_id')
/** Editors of the project who act for its organization. */
const CHANGES_AN_ORDER = {
  a: `${NOBODY} | 200 200 403 403 | 404 404 | 403 200 403 | 403 403 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 403 404 403 | 403 403 404 404`,
}
const PLACES = {
  a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
}
/** Members have their own; keys have none. */
const OF_MEMBERS = `${NOBODY} | 200 200 200 200 | 200 403 | 403 403 403 | 403 403 403 403`
const draft = async (w: World, org: Org) => ({
  draft_id: (await w.ok(org.owner.token, 'orders.drafts.save', { name: newId(), captures: [] })).draft.id as string,
})
/** Of the owner: nobody else finds it. */
const OWN_DRAFTS = {
  a: `${NOBODY} | 200 404 404 404 | 404 403 | 403 403 403 | 403 403 403 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 403 403 | 403 403 403 403`,
}
const WRITES_OWN = `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403`

export const rows: Rows = {
  'orders.advance': {
    ...OPERATORS_ANYWHERE,
    input: async (w, org) => ({ order_id: await acceptedOrder(w, org), to: 'failed', reason: 'x' }),
    missing: otherOrder,
    breaks: 'table order_group',
  },
  'orders.archive.estimate': { ...READS_OWN, input: async (w) => ({ captures: await captures(w) }), breaks: 'table commitment' },
  'orders.archive.place': {
    input: async (w, org) => {
      await grant(w, org, 10_000)
      return { projectId: org.projectId, captures: await captures(w) }
    },
    missing: other('projectId'),
    // A person, and no key.
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table order_group',
  },
  'orders.cancel': {
    ...CHANGES_AN_ORDER,
    input: async (w, org) => ({ id: await order(w, org) }),
    missing: other('id'),
    breaks: 'table order_group',
  },
  'orders.coverage.get': { ...READS_A_PROJECT, input: byOrderId, missing: otherOrder, breaks: 'table order_group' },
  'orders.coverage.groups.list': { ...READS_A_PROJECT, input: byOrderId, missing: otherOrder, breaks: 'table order_group' },
  'orders.drafts.delete': { ...OWN_DRAFTS, input: draft, missing: other('draft_id'), breaks: 'table order_draft' },
  'orders.drafts.get': { ...OWN_DRAFTS, input: draft, missing: other('draft_id'), breaks: 'table order_draft' },
  'orders.drafts.list': { a: OF_MEMBERS, input: () => ({}), breaks: 'table order_draft' },
  'orders.drafts.save': { a: OF_MEMBERS, input: () => ({ name: 'x', captures: [] }), breaks: 'table order_draft' },
  'orders.estimate': { ...READS_OWN, input: () => tasked(), breaks: 'table commitment' },
  'orders.get': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ id: await order(w, org) }),
    missing: other('id'),
    breaks: 'table order_group',
  },
  'orders.get_schema': { ...ANYBODY, input: () => ({ data_product_id: 'sandbox-vhr-tasking' }), breaks: null },
  'orders.list': { ...READS_OWN, input: () => ({}), breaks: 'table imagery_order' },
  'orders.list_assets': { ...READS_A_PROJECT, input: byOrderId, missing: otherOrder, breaks: 'table order_group' },
  'orders.place': {
    ...PLACES,
    input: (_w, org) => ({ workspaceId: org.projectId, ...tasked() }),
    missing: other('workspaceId'),
    breaks: 'table order_group',
  },
  'orders.tasking.decisions.pending': { ...READS_OWN, input: () => ({}), breaks: 'table feasibility_study' },
  'orders.tasking.estimate': { ...READS_OWN, input: () => ({ groups: [tasked()] }), breaks: 'table commitment' },
  'orders.tasking.feasibility_check': { ...ANYBODY, input: () => tasked(), breaks: null },
  'orders.tasking.feasibility_decide': {
    ...CHANGES_AN_ORDER,
    input: answeredStudy,
    missing: other('study_id'),
    breaks: 'table feasibility_study',
  },
  'orders.tasking.feasibility_studies.list': { ...READS_OWN, input: () => ({}), breaks: 'table feasibility_study' },
  'orders.tasking.opportunities_list': { ...ANYBODY, input: () => tasked(), breaks: null },
  'orders.tasking.place': {
    ...PLACES,
    input: (_w, org) => ({ projectId: org.projectId, groups: [tasked()] }),
    missing: other('projectId'),
    breaks: 'table order_group',
  },
  'orders.tasking.quotation_decide': {
    ...CHANGES_AN_ORDER,
    input: issuedQuotation,
    missing: other('quotation_id'),
    breaks: 'table quotation',
  },
  'orders.tasking.quotation_issue': {
    ...OPERATORS_ANYWHERE,
    input: async (w, org) => ({ order_id: await order(w, org, 'sandbox-vhr-quoted'), credits: 5 }),
    missing: otherOrder,
    breaks: 'table quotation',
  },
  'orders.tasking.quotations.list': { ...READS_OWN, input: () => ({}), breaks: 'table quotation' },
  'orders.tasking.sensors': { ...ANYBODY, input: () => ({}), breaks: null },
  'orders.tasking.study_answer': {
    ...OPERATORS_ANYWHERE,
    input: async (w, org) => ({ study_id: await waitingStudy(w, org), options }),
    missing: other('study_id'),
    breaks: 'table feasibility_study',
  },
  'orders.tasking.templates.delete': {
    input: async (w, org) => ({
      template_id: (await w.ok(org.owner.token, 'orders.tasking.templates.save', { ...template, name: newId() })).id as string,
    }),
    missing: other('template_id'),
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 403 200 403 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
    breaks: 'table tasking_template',
  },
  'orders.tasking.templates.list': { ...READS_OWN, input: () => ({}), breaks: 'table tasking_template' },
  'orders.tasking.templates.save': { a: WRITES_OWN, input: () => template, breaks: 'table tasking_template' },
  'orders.update': {
    ...CHANGES_AN_ORDER,
    input: async (w, org) => ({ order_id: await order(w, org), tags: ['x'] }),
    missing: otherOrder,
    breaks: 'table order_group',
  },
}
