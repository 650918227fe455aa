/** What job templates of UP42's client ask: a process, its licence, whether inputs are valid, what they cost, and a job. */
import type { FastifyRequest } from 'fastify'
import { invalidField, invalidInput, withMembers, type FieldError } from '#core/problem.ts'
import { processDescription, type ProcessDocument } from '#http/projections/processes.wire.ts'
import { pick, queryOf } from '#http/projections/project.ts'
import { Refused, type Json, type Route } from './route.ts'
import { jobShape } from './shapes.ts'

/** The client asks for the licence of every process. Ours have none, so there is nothing to accept. */
const NO_LICENCE = '00000000-0000-0000-0000-000000000000'

const PROCESSES = '/v2/processing/processes/:id'

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id

/** Processes of UP42 that one of ours does the work of, and what their inputs are called here. */
const TEMPLATES: Readonly<Record<string, { process: string; inputs: (given: Json) => Json }>> = {
  pansharpening: {
    process: 'pansharpen',
    inputs: ({ greyWeights, ...given }) => {
      if (greyWeights !== undefined)
        throw invalidField(
          'inputs.greyWeights',
          'cannot be given by the names of bands here; leave them out, or run pansharpen with weights',
        )
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

/** The client's own sensitivity of 2 is the threshold that is ours by default; twice as sensitive is half the threshold. */
const USUAL_SENSITIVITY = 2
const USUAL_THRESHOLD = 0.1

function thresholdOf(sensitivity: unknown): number {
  if (typeof sensitivity !== 'number' || !(sensitivity > 0)) throw invalidField('inputs.sensitivity', 'must be a number above 0')
  return (USUAL_THRESHOLD * USUAL_SENSITIVITY) / sensitivity
}

const processOf = (request: FastifyRequest): string => TEMPLATES[idOf(request)]?.process ?? idOf(request)

/** The client names items by their addresses; a bare id is taken too. */
function itemIdOf(item: unknown): unknown {
  const path = typeof item === 'string' ? URL.parse(item)?.pathname : null
  const id = path && /\/items\/([^/]+)$/.exec(path)?.[1]
  return id ? decodeURIComponent(id) : item
}

/** Of terrain, which has no name of its own among the inputs. */
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

/** The client makes an error of each of these, and knows the two members only. */
const named = (errors: readonly FieldError[]): Json[] =>
  errors.map(({ field, message }) => ({ name: field, message: `${field}: ${message}` }))

const invalidInputs = (errors: readonly FieldError[]): Refused => new Refused(withMembers(invalidInput(errors), { errors: named(errors) }))

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
      // The process was there a moment ago, so what is missing is an item.
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
