/** Routes for job templates of UP42's client: a process, its licence, input validation, the price, and a job. */
import type { FastifyRequest } from 'fastify'
import { invalidField, invalidInput, withMembers, type FieldError } from '#core/problem.ts'
import { processDescription, type ProcessDocument } from '#http/projections/processes.wire.ts'
import { pick, queryOf } from '#http/projections/project.ts'
import { ShapeProblem, type Json, type Route } from './route.ts'
import { jobShape } from './shapes.ts'

/** The client requests the licence of every process. Ours have none, so there is nothing to accept. */
const NO_LICENCE = '00000000-0000-0000-0000-000000000000'

const PROCESSES = '/v2/processing/processes/:id'

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

/** UP42 processes that map to ours, and our names of their inputs. */
const TEMPLATES: Readonly<Record<string, { process: string; inputs: (given: Json) => Json }>> = {
  pansharpening: {
    process: 'pansharpen',
    inputs: ({ greyWeights, ...given }) => {
      if (greyWeights !== undefined)
        throw invalidField('inputs.greyWeights', 'cannot use band names here; omit them, or run pansharpen with weights')
      return given
    },
  },
  'detection-change-simularity': {
    process: 'change_detection',
    inputs: ({ sourceItem, referenceItem, sensitivity, ...given }) => ({
      ...given,
      before_item_id: itemIdOf(referenceItem),
      after_item_id: itemIdOf(sourceItem),
      ...(sensitivity === undefined ? {} : { change_threshold: thresholdOf(sensitivity) }),
    }),
  },
}

/** The client's default sensitivity of 2 is our default threshold; twice the sensitivity is half the threshold. */
const USUAL_SENSITIVITY = 2
const USUAL_THRESHOLD = 0.1

function thresholdOf(sensitivity: unknown): number {
  if (typeof sensitivity !== 'number' || !(sensitivity > 0)) throw invalidField('inputs.sensitivity', 'must be a number above 0')
  return (USUAL_THRESHOLD * USUAL_SENSITIVITY) / sensitivity
}

const processOf = (request: FastifyRequest): string => TEMPLATES[idOf(request)]?.process ?? idOf(request)

/** The client identifies items by URL; an ID is accepted, too. */
function itemIdOf(item: unknown): unknown {
  const path = typeof item === 'string' ? URL.parse(item)?.pathname : null
  const id = path && /\/items\/([^/]+)$/.exec(path)?.[1]
  return id ? decodeURIComponent(id) : item
}

/** The terrain item, which has no input name of its own. */
const UNNAMED = new Set(['aspect', 'hillshade', 'slope'])

function inputsOf(request: FastifyRequest, { inputs }: Json): Json {
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) throw invalidField('inputs', 'must be an object')
  const { title, item, items, ...given } = TEMPLATES[idOf(request)]?.inputs(inputs as Json) ?? (inputs as Json)
  return {
    ...given,
    ...(item === undefined ? {} : { item_id: itemIdOf(item) }),
    ...(items === undefined ? {} : { item_ids: Array.isArray(items) ? items.map(itemIdOf) : items }),
    ...(title === undefined || UNNAMED.has(processOf(request)) ? {} : { output_name: title }),
  }
}

const toProcess = (request: FastifyRequest, body: Json): Json => ({ process_id: processOf(request), inputs: inputsOf(request, body) })

/** The client raises an error for each of these, and reads only these two members. */
const named = (errors: readonly FieldError[]): Json[] =>
  errors.map(({ field, message }) => ({ name: field, message: `${field}: ${message}` }))

const invalidInputs = (errors: readonly FieldError[]): ShapeProblem =>
  new ShapeProblem(withMembers(invalidInput(errors), { errors: named(errors) }))

export const TEMPLATE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: PROCESSES,
    operation: 'processing.catalog.get',
    input: (request) => ({ process_id: processOf(request) }),
    shape: (process, _accountId, { request, baseUrl }) => ({
      ...processDescription(process as unknown as ProcessDocument, baseUrl),
      id: idOf(request),
      additionalParameters: { parameters: [{ name: 'eula-id', value: [NO_LICENCE] }] },
    }),
  },
  {
    method: 'GET',
    path: `/v2/eulas/${NO_LICENCE}`,
    operation: 'organizations.get',
    input: () => ({}),
    shape: () => ({ id: NO_LICENCE, isAccepted: true }),
  },
  {
    method: 'GET',
    path: '/v2/eulas/:id',
    operation: 'eulas.get',
    input: (request) => ({ eula_id: idOf(request) }),
    shape: (licence) => ({ ...licence, isAccepted: licence['accepted'] }),
  },
  {
    method: 'POST',
    path: `${PROCESSES}/validation`,
    operation: 'processing.catalog.validate',
    input: toProcess,
    shape: ({ valid, errors }) => (valid ? { valid } : invalidInputs(errors as FieldError[])),
    refusal: {
      400: (problem) => ({ ...problem, 'schema-error': problem['detail'] }),
      // The process existed a moment ago, so an item must be missing.
      404: (problem) => ({
        ...problem,
        type: String(problem['type']).replace(/[^/]+$/, 'invalid-input'),
        code: 'invalid-input',
        title: 'Unprocessable Entity',
        status: 422,
        errors: [{ name: 'ItemNotFound', message: problem['detail'] }],
      }),
      422: (problem) => ({ ...problem, errors: named(problem['errors'] as FieldError[]) }),
    },
  },
  {
    method: 'POST',
    path: `${PROCESSES}/cost`,
    operation: 'processing.catalog.estimate',
    input: toProcess,
    shape: ({ credits, area_sq_km: size }) => ({ pricingStrategy: 'area', totalCredits: credits, totalSize: size, unit: 'SQ_KM' }),
  },
  {
    method: 'POST',
    path: `${PROCESSES}/execution`,
    operation: 'processing.execute',
    input: (request, body) => ({ ...toProcess(request, body), ...pick(queryOf(request), ['workspaceId', 'budgetId']), wait_seconds: 0 }),
    shape: ({ job }, _accountId, { baseUrl }) => jobShape(job as Json, baseUrl),
  },
]
