import Type from 'typebox'
import { Closed, Defaulted, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Template } from '#model/orders/template.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

const Word = (description: string) => Type.String({ minLength: 1, maxLength: 100, description })

/** What a template keeps beside its name. */
export const Settings = {
  description: Defaulted(Nullable(Type.String({ maxLength: 2_000, description: 'What it is for' })), null),
  capture_asap: Defaulted(Type.Boolean({ description: 'As soon as a satellite passes' }), true),
  resolution: Word('For example 0.5 m'),
  sensor: Word('From orders.tasking.sensors'),
  capture_frequency: Word('For example once or weekly'),
  datum: Word('For example WGS84'),
  file_format: Word('For example COG'),
  has_control: Defaulted(Type.Boolean({ description: 'There are ground control points' }), false),
  max_cloud_coverage: Defaulted(Type.Integer({ minimum: 0, maximum: 100, description: 'Percent of cloud at most' }), 0),
  max_nadir_angle: Defaulted(Type.Integer({ minimum: 0, maximum: 90, description: 'Degrees off nadir at most' }), 0),
}

export const TemplateRecord = Closed(
  {
    id: Type.With(Uuid, { description: 'Id of the template' }),
    name: Type.String({ description: 'What people call it' }),
    ...Type.Required(Closed(Settings)).properties,
    created_at: Type.With(Timestamp, { description: 'When it was first saved' }),
    updated_at: Type.With(Timestamp, { description: 'When it was last saved' }),
  },
  { $id: 'TaskingTemplate' },
)

export const toRecord = ({ id, name, settings, createdAt, updatedAt }: Template) => ({
  id,
  name,
  ...(settings as typeof EXAMPLE_SETTINGS),
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
})

const EXAMPLE_SETTINGS = {
  description: null as string | null,
  capture_asap: true,
  resolution: '0.5 m',
  sensor: 'sandbox-vhr',
  capture_frequency: 'once',
  datum: 'WGS84',
  file_format: 'COG',
  has_control: false,
  max_cloud_coverage: 20,
  max_nadir_angle: 30,
}
export const EXAMPLE_TEMPLATE = {
  id: '0199f2dc-0000-7000-8000-000000000001',
  name: 'Coast, clear',
  ...EXAMPLE_SETTINGS,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
