import Type from 'typebox'
import { Closed, Defaulted, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Template } from '#model/orders/template.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

const Word = (description: string) => Type.String({ minLength: 1, maxLength: 100, description })

/** The fields of a template except its name. */
export const Settings = {
  description: Defaulted(Nullable(Type.String({ maxLength: 2_000, description: 'Description of the template; null if none' })), null),
  capture_asap: Defaulted(Type.Boolean({ description: 'Whether to capture at the earliest opportunity' }), true),
  resolution: Word('Resolution, such as `0.5 m`'),
  sensor: Word('Sensor ID from `orders.tasking.sensors`'),
  capture_frequency: Word('Capture frequency, such as `once` or `weekly`'),
  datum: Word('Datum, such as `WGS84`'),
  file_format: Word('File format, such as `COG`'),
  has_control: Defaulted(Type.Boolean({ description: 'Whether ground control points are available' }), false),
  max_cloud_coverage: Defaulted(Type.Integer({ minimum: 0, maximum: 100, description: 'Maximum cloud cover in percent' }), 0),
  max_nadir_angle: Defaulted(Type.Integer({ minimum: 0, maximum: 90, description: 'Maximum off-nadir angle in degrees' }), 0),
}

export const TemplateRecord = Closed(
  {
    id: Described(Uuid, 'Template ID'),
    name: Type.String({ description: 'Template name' }),
    ...Type.Required(Closed(Settings)).properties,
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'TaskingTemplate', description: 'A saved template of tasking settings' },
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
