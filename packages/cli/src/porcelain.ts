/** Commands made by hand, for what people do all day. Each is loaded only when it is used. */
import type { Run } from './options.ts'

interface Porcelain {
  readonly usage: string
  readonly about: string
  readonly options: readonly (readonly [string, string])[]
  readonly examples: readonly string[]
  readonly load: () => Promise<Run>
}

const PROJECT = ['--project ID', 'The project; else the one of your account, else your only one'] as const

export const PORCELAIN: Readonly<Record<string, Porcelain>> = {
  up: {
    usage: 'up',
    about: 'Start the service on this machine',
    options: [],
    examples: ['groundtrack up', 'PORT=9000 groundtrack up'],
    load: async () => (await import('./commands/up.ts')).run,
  },
  'sign-in': {
    usage: 'sign-in [--email ADDRESS]',
    about: 'Sign in and remember it',
    options: [
      ['--email ADDRESS', 'Asked for where it is left out'],
      ['--password-stdin', 'Read the password, or the key, from stdin'],
      ['--key', 'Sign in with an API key instead'],
      ['--organization ID', 'Act for this organization'],
      ['--project ID', 'Remember this project as the one that is meant'],
    ],
    examples: ['groundtrack sign-in --email demo@groundtrack.dev', 'pass show groundtrack | groundtrack sign-in --key --password-stdin'],
    load: async () => (await import('./commands/sign-in.ts')).signIn,
  },
  'sign-out': {
    usage: 'sign-out',
    about: 'End the session and forget it',
    options: [],
    examples: [],
    load: async () => (await import('./commands/sign-in.ts')).signOut,
  },
  accounts: {
    usage: 'accounts [use NAME]',
    about: 'List accounts, or choose one',
    options: [],
    examples: ['groundtrack accounts', 'groundtrack accounts use work'],
    load: async () => (await import('./commands/sign-in.ts')).accounts,
  },
  upload: {
    usage: 'upload FILE…',
    about: 'Upload rasters with bars; they become items',
    options: [
      PROJECT,
      ['--collection ID', 'Put them into this collection'],
      ['--categorical', 'Samples are numbers of classes'],
      ['--crs EPSG:CODE', 'Position an image that has none'],
      ['--bounds L,B,R,T', 'Its outer edges, in units of --crs'],
      ['--gcp COLUMN,ROW,X,Y', 'A control point; three or more'],
      ['--wait', 'Until they are converted'],
    ],
    examples: [
      'groundtrack upload *.tif',
      'groundtrack upload field.tif --wait --json',
      'groundtrack upload scan.tif --crs EPSG:4326 --bounds 151,-33.06,151.07,-33',
    ],
    load: async () => (await import('./commands/files.ts')).upload,
  },
  download: {
    usage: 'download ITEM',
    about: 'Download a file of an item',
    options: [
      ['--asset KEY', 'Which file; data unless told'],
      ['-o, --output FILE', 'Where to; - is stdout'],
    ],
    examples: ['groundtrack download 01a1… -o field.tif'],
    load: async () => (await import('./commands/files.ts')).download,
  },
  search: {
    usage: 'search --bbox W,S,E,N',
    about: 'Find scenes of every source, or of one host',
    options: [
      ['--bbox W,S,E,N', 'The area, in degrees'],
      ['--intersects JSON|@FILE', 'The area, as a polygon'],
      ['--datetime A/B', 'For example 2026-01-01/2026-03-31'],
      ['--max-cloud PERCENT', 'No cloudier than this'],
      ['--host NAME', 'One host, with prices; see: groundtrack catalog vendors list'],
      ['--mine', 'Your own items instead'],
      ['--limit NUMBER', 'At most so many; 20'],
      ['--geojson', 'One FeatureCollection'],
    ],
    examples: [
      'groundtrack search --bbox 151,-34,151.2,-33.8 --datetime 2026-01-01/2026-03-31 --max-cloud 10',
      'groundtrack search --host sandbox-vhr --bbox 151,-34,151.2,-33.8 --ndjson | jq .id',
    ],
    load: async () => (await import('./commands/search.ts')).run,
  },
  order: {
    usage: 'order SCENE… --host NAME',
    about: 'Buy scenes of an archive, after showing the price',
    options: [
      PROJECT,
      ['--host NAME', 'Whose scenes they are'],
      ['--bbox W,S,E,N', 'Only this part of them'],
      ['--area JSON|@FILE', 'The same as a polygon'],
      ['--wait', 'Until they are delivered'],
    ],
    examples: ['groundtrack order SCENE --host sandbox-vhr --dry-run', 'groundtrack order SCENE --host sandbox-vhr --yes --wait'],
    load: async () => (await import('./commands/order.ts')).order,
  },
  task: {
    usage: 'task --product NAME --area JSON|@FILE',
    about: 'Order a new acquisition, after showing the price',
    options: [
      PROJECT,
      ['--product NAME', 'See: groundtrack glossary data-products list'],
      ['--area JSON|@FILE', 'The polygon'],
      ['--from TIME, --to TIME', 'When to acquire'],
      ['--max-cloud PERCENT', 'No cloudier than this'],
      ['--name TEXT', 'How to call the order'],
    ],
    examples: ['groundtrack task --product NAME --area @field.geojson --from 2027-01-01 --to 2027-02-01 --dry-run'],
    load: async () => (await import('./commands/order.ts')).task,
  },
  jobs: {
    usage: 'jobs [watch JOB | cancel JOB]',
    about: 'List processing jobs, follow one to its end, or cancel one',
    options: [],
    examples: ['groundtrack jobs', 'groundtrack jobs watch 01a1…', 'groundtrack jobs cancel 01a1…'],
    load: async () => (await import('./commands/order.ts')).jobs,
  },
  tiles: {
    usage: 'tiles url ITEM',
    about: "Print the URL of an item's tiles, for any map program",
    options: [
      ['--format webp|png|jpg', 'webp unless told'],
      ['--look ID', 'A saved profile or a derived visualization'],
      ['--create-key', 'Create a read-only API key and put it in the URL'],
      ['--with-key', 'Put the API key of your account in the URL'],
    ],
    examples: ['groundtrack tiles url 01a1… --format png --create-key'],
    load: async () => (await import('./commands/share.ts')).tiles,
  },
  share: {
    usage: 'share ITEM',
    about: 'Make a link that anybody with its password can open',
    options: [
      ['--collection', 'The id is that of a collection'],
      ['--password TEXT', 'Made up and shown where it is left out'],
      ['--days NUMBER', 'How long; 30'],
      ['--download', 'Files may be downloaded too'],
    ],
    examples: ['groundtrack share 01a1… --days 7'],
    load: async () => (await import('./commands/share.ts')).share,
  },
  events: {
    usage: 'events listen',
    about: 'Events as they happen; forwarded to a program of yours, if you like',
    options: [
      ['--forward-to URL', 'POST each, signed, as a webhook would'],
      ['--secret SECRET', 'Signing secret; made up and shown where it is left out'],
      ['--types A,B', 'Only these types'],
      ['--after EVENT', 'Begin after this event'],
      ['--count NUMBER', 'End after so many'],
    ],
    examples: ['groundtrack events listen', 'groundtrack events listen --forward-to http://127.0.0.1:3000/hook --types item.created'],
    load: async () => (await import('./commands/events.ts')).run,
  },
  open: {
    usage: 'open [app|docs|ITEM]',
    about: 'Open the service in your browser',
    options: [],
    examples: ['groundtrack open', 'groundtrack open docs'],
    load: async () => (await import('./commands/doctor.ts')).open,
  },
  doctor: {
    usage: 'doctor',
    about: 'Check ports, disk, database, store, clock and credentials',
    options: [],
    examples: [],
    load: async () => (await import('./commands/doctor.ts')).run,
  },
  call: {
    usage: 'call OPERATION [JSON|@FILE|-]',
    about: 'Call any operation by its id, those for operators too',
    options: [],
    examples: ['groundtrack call projects.get \'{"project_id": "01a1…"}\'', 'groundtrack call items.list_expiring'],
    load: async () => (await import('./commands/call.ts')).run,
  },
  mcp: {
    usage: 'mcp',
    about: 'Tools for agents over stdio (Model Context Protocol)',
    options: [
      ['--tools A,B', 'Tool sets: domains, or all (default projects,items,catalog)'],
      ['--write', 'Also tools that create and change'],
      ['--delete', 'Also tools that delete'],
      ['--spend', 'Also tools that spend credits, each with a price to confirm'],
    ],
    examples: ['groundtrack mcp --tools catalog,items'],
    load: async () => (await import('./commands/mcp.ts')).run,
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    about: 'Print what makes your shell complete commands',
    options: [],
    examples: ['source <(groundtrack completion bash)'],
    load: async () => (await import('./commands/completion.ts')).run,
  },
  man: {
    usage: 'man',
    about: 'Show the manual page',
    options: [],
    examples: ['groundtrack man'],
    load: async () => (await import('./commands/man.ts')).run,
  },
}
