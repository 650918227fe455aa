/** The areas whose mosaics can be clipped: operator data, validated at start-up. */
import { readFile } from 'node:fs/promises'
import Type from 'typebox'
import Value from 'typebox/value'
import { Closed, Nullable } from '#core/shapes.ts'
import type { ClipArea } from '#ports/clip-areas.ts'

const Text = Type.String({ maxLength: 2_000 })
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' })
const Areas = Closed({
  areas: Type.Array(
    Closed({
      id: Name,
      name: Text,
      description: Text,
      bbox: Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]),
      attribution: Text,
      mosaics: Type.Array(Closed({ type: Name, title: Text, description: Text, url: Text, acquired: Nullable(Text) }), {
        minItems: 1,
        maxItems: 100,
      }),
    }),
    { maxItems: 1_000 },
  ),
})

/** URLs with this prefix belong to the sandbox; without a sandbox, its areas are omitted. */
const SANDBOX = 'sandbox/'

export class AreasError extends Error {}

/** Reads the operator's file, or the one that ships with the platform. */
export async function readClipAreas(path: string | null, sandboxUrl: string | null): Promise<ClipArea[]> {
  const where = path ?? new URL('./areas.json', import.meta.url)
  const text = await readFile(where, 'utf8').catch(() => {
    throw new AreasError(`'${path}': cannot read the file`)
  })
  const value = parsed(text, String(path))
  const wrong = value.areas.find(({ mosaics }) =>
    mosaics.some(({ url }) => !url.startsWith(SANDBOX) && URL.parse(url)?.protocol !== 'https:'),
  )
  if (wrong) throw new AreasError(`'${wrong.id}': mosaics must have https URLs`)
  return value.areas.flatMap((area) => {
    const mosaics = area.mosaics.flatMap((mosaic) => {
      if (!mosaic.url.startsWith(SANDBOX)) return [mosaic]
      return sandboxUrl === null ? [] : [{ ...mosaic, url: `${sandboxUrl}/${mosaic.url.slice(SANDBOX.length)}` }]
    })
    return mosaics.length > 0 ? [{ ...area, mosaics }] : []
  })
}

function parsed(text: string, where: string) {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AreasError(`'${where}' is not valid JSON`)
  }
  if (!Value.Check(Areas, value)) {
    const [first] = Value.Errors(Areas, value)
    throw new AreasError(`'${where}' is not a valid list of areas: ${first?.instancePath ?? ''} ${first?.message ?? ''}`)
  }
  return value
}
