/** Commands for common tasks. Each is loaded only when it is used. */
import type { Run } from './options.ts'

interface Command {
  readonly usage: string
  readonly about: string
  readonly options: readonly (readonly [string, string])[]
  readonly examples: readonly string[]
  readonly load: () => Promise<Run>
}

const PROJECT = ['--project ID', "Project (default: your account's, or your only one)"] as const

export const COMMANDS: Readonly<Record<string, Command>> = {
  up: {
    usage: 'up',
    about: 'Start the service on this machine',
    options: [],
    examples: ['groundtrack up', 'PORT=9000 groundtrack up'],
    load: async () => (await import('./commands/up.ts')).run,
  },
  config: {
    usage: 'config check',
    about: 'Show the settings of the service on this machine, and check what they name',
    options: [],
    examples: ['groundtrack config check', 'CONFIG_FILE=/etc/groundtrack.env groundtrack config check'],
    load: async () => (await import('./commands/operate.ts')).config,
  },
  keys: {
    usage: 'keys rotate signing|store',
    about: 'Replace the key of tokens or of signed URLs, while the service runs',
    options: [['--leaked', 'End the old key now instead of when what it signed has expired']],
    examples: ['groundtrack keys rotate signing', 'groundtrack keys rotate store --leaked'],
    load: async () => (await import('./commands/operate.ts')).keys,
  },
  migrate: {
    usage: 'migrate --status|--plan|--expand|--contract',
    about: 'Show or apply migrations of the database',
    options: [
      ['--status', 'List applied and pending migrations'],
      ['--plan', 'Print the SQL of pending migrations'],
      ['--expand', 'Apply those that the previous version can run on'],
      ['--contract', 'Apply all; no process of the previous version may be left'],
    ],
    examples: ['groundtrack migrate --status', 'groundtrack migrate --expand'],
    load: async () => (await import('./commands/operate.ts')).migrate,
  },
  backup: {
    usage: 'backup FOLDER',
    about: 'Write the database and all files of the service on this machine to a folder',
    options: [],
    examples: ['groundtrack backup /backups/2026-11-17'],
    load: async () => (await import('./commands/operate.ts')).backup,
  },
  verify: {
    usage: 'verify FOLDER',
    about: 'Read a backup again and list what differs from its manifest',
    options: [],
    examples: ['groundtrack verify /backups/2026-11-17'],
    load: async () => (await import('./commands/operate.ts')).verify,
  },
  restore: {
    usage: 'restore FOLDER',
    about: 'Restore a backup into an empty installation',
    options: [],
    examples: ['DATA_DIR=/srv/groundtrack groundtrack restore /backups/2026-11-17'],
    load: async () => (await import('./commands/operate.ts')).restore,
  },
  store: {
    usage: 'store owner|claim',
    about: 'Show which installation the object store belongs to, or make it this one',
    options: [],
    examples: ['groundtrack store owner', 'groundtrack store claim'],
    load: async () => (await import('./commands/operate.ts')).store,
  },
  org: {
    usage: 'org export ORGANIZATION FOLDER|import FOLDER|erase ORGANIZATION',
    about: 'Export, import or erase one organization of the service on this machine',
    options: [
      ['--confirm SLUG', 'Of the organization to erase'],
      ['--keep-years N', 'How long records of money are kept (default: 7)'],
      ['--proof FILE', 'Write the proof of the erasure to this file'],
    ],
    examples: [
      'groundtrack org export acme /exports/acme',
      'groundtrack org import /exports/acme',
      'groundtrack org erase acme --confirm acme',
    ],
    load: async () => (await import('./commands/operate.ts')).org,
  },
  'sign-in': {
    usage: 'sign-in [--email ADDRESS]',
    about: 'Sign in and save the session',
    options: [
      ['--sso', 'Sign in in the browser, at the login of the organization; --email or --organization finds it'],
      ['--email ADDRESS', 'Prompts if omitted'],
      ['--password-stdin', 'Read the password or key from stdin'],
      ['--code CODE', 'Code of the authenticator app, or a recovery code'],
      ['--key', 'Sign in with an API key instead'],
      ['--organization ID', 'Act for this organization'],
      ['--project ID', 'Set the default project'],
    ],
    examples: [
      'groundtrack sign-in --email demo@groundtrack.dev',
      'groundtrack sign-in --sso --email ana@coastal.example',
      'pass show groundtrack | groundtrack sign-in --key --password-stdin',
    ],
    load: async () => (await import('./commands/sign-in.ts')).signIn,
  },
  'sign-out': {
    usage: 'sign-out',
    about: 'Sign out and delete the saved session',
    options: [],
    examples: [],
    load: async () => (await import('./commands/sign-in.ts')).signOut,
  },
  accounts: {
    usage: 'accounts [use NAME]',
    about: 'List accounts, or switch to another',
    options: [],
    examples: ['groundtrack accounts', 'groundtrack accounts use work'],
    load: async () => (await import('./commands/sign-in.ts')).accounts,
  },
  upload: {
    usage: 'upload FILE…',
    about: 'Upload rasters as items, showing progress',
    options: [
      PROJECT,
      ['--collection ID', 'Add the items to this collection'],
      ['--categorical', 'Pixel values are class codes'],
      ['--as-one-item', 'The files are the bands of one scene, which become one item'],
      ['--crs EPSG:CODE', 'CRS of --bounds and --gcp, for an image without a position'],
      ['--bounds L,B,R,T', 'Bounds of the image, in units of --crs'],
      ['--gcp COLUMN,ROW,X,Y', 'Ground control point; give three or more'],
      ['--wait', 'Wait until the files are converted'],
    ],
    examples: [
      'groundtrack upload *.tif',
      'groundtrack upload field.tif --wait --json',
      'groundtrack upload T56_red.tif T56_nir.tif --as-one-item',
      'groundtrack upload scan.tif --crs EPSG:4326 --bounds 151,-33.06,151.07,-33',
    ],
    load: async () => (await import('./commands/files.ts')).upload,
  },
  download: {
    usage: 'download ITEM',
    about: 'Download an asset of an item',
    options: [
      ['--asset KEY', 'Asset key (default data)'],
      ['-o, --output FILE', 'Output file; - for stdout'],
    ],
    examples: ['groundtrack download 01a1… -o field.tif'],
    load: async () => (await import('./commands/files.ts')).download,
  },
  search: {
    usage: 'search --bbox W,S,E,N',
    about: 'Search scenes in all sources, or at one host',
    options: [
      ['--bbox W,S,E,N', 'Bounding box in degrees'],
      ['--intersects JSON|@FILE', 'Area as a GeoJSON polygon'],
      ['--datetime A/B', 'For example 2026-01-01/2026-03-31'],
      ['--max-cloud PERCENT', 'Maximum cloud cover'],
      ['--host NAME', 'Only this host, with prices; see: groundtrack catalog vendors list'],
      ['--mine', 'Search your own items instead'],
      ['--limit NUMBER', 'Maximum results (default 20)'],
      ['--geojson', 'Print a GeoJSON FeatureCollection'],
    ],
    examples: [
      'groundtrack search --bbox 151,-34,151.2,-33.8 --datetime 2026-01-01/2026-03-31 --max-cloud 10',
      'groundtrack search --host sandbox-vhr --bbox 151,-34,151.2,-33.8 --ndjson | jq .id',
    ],
    load: async () => (await import('./commands/search.ts')).run,
  },
  order: {
    usage: 'order SCENE… --host NAME',
    about: 'Buy archive scenes, after showing the price',
    options: [
      PROJECT,
      ['--host NAME', 'Host that sells the scenes'],
      ['--bbox W,S,E,N', 'Order only this area'],
      ['--area JSON|@FILE', 'Order only this polygon'],
      ['--wait', 'Wait for delivery'],
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
      ['--area JSON|@FILE', 'Area as a GeoJSON polygon'],
      ['--from TIME, --to TIME', 'Acquisition window'],
      ['--max-cloud PERCENT', 'Maximum cloud cover'],
      ['--name TEXT', 'Order name'],
    ],
    examples: ['groundtrack task --product NAME --area @field.geojson --from 2027-01-01 --to 2027-02-01 --dry-run'],
    load: async () => (await import('./commands/order.ts')).task,
  },
  jobs: {
    usage: 'jobs [watch JOB | cancel JOB]',
    about: 'List processing jobs, watch one until it ends, or cancel one',
    options: [],
    examples: ['groundtrack jobs', 'groundtrack jobs watch 01a1…', 'groundtrack jobs cancel 01a1…'],
    load: async () => (await import('./commands/order.ts')).jobs,
  },
  tiles: {
    usage: 'tiles url ITEM',
    about: "Print the URL of an item's tiles, for any map client",
    options: [
      ['--format webp|png|jpg', 'Image format (default webp)'],
      ['--style ID', 'Saved visualization profile, or a derived visualization'],
      ['--create-key', 'Create a read-only API key and add it to the URL'],
      ['--with-key', "Add your account's API key to the URL"],
    ],
    examples: ['groundtrack tiles url 01a1… --format png --create-key'],
    load: async () => (await import('./commands/share.ts')).tiles,
  },
  share: {
    usage: 'share ITEM',
    about: 'Create a share link; anyone with the password can open it',
    options: [
      ['--collection', 'Share a collection instead of an item'],
      ['--password TEXT', 'Generated and printed if omitted'],
      ['--public', 'Without a password, if your organization allows it'],
      ['--days NUMBER', 'Days until it expires (default 30)'],
      ['--download', 'Allow downloads'],
    ],
    examples: ['groundtrack share 01a1… --days 7'],
    load: async () => (await import('./commands/share.ts')).share,
  },
  events: {
    usage: 'events listen',
    about: 'Print events as they happen, or forward them to a URL',
    options: [
      ['--forward-to URL', 'POST each event, signed like a webhook'],
      ['--secret SECRET', 'Signing secret; generated and printed if omitted'],
      ['--types A,B', 'Only these event types'],
      ['--after EVENT', 'Start after this event'],
      ['--count NUMBER', 'Stop after this many events'],
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
    about: 'Call any operation by its ID, including operator ones',
    options: [],
    examples: ['groundtrack call projects.get \'{"project_id": "01a1…"}\'', 'groundtrack call items.list_expiring'],
    load: async () => (await import('./commands/call.ts')).run,
  },
  mcp: {
    usage: 'mcp',
    about: 'Serve tools to agents over stdio (Model Context Protocol)',
    options: [
      ['--tools A,B', 'Tool sets: domains, or all (default projects,items,catalog)'],
      ['--write', 'Include tools that create and change'],
      ['--delete', 'Include tools that delete'],
      ['--spend', 'Include tools that spend credits; each asks to confirm the price'],
    ],
    examples: ['groundtrack mcp --tools catalog,items'],
    load: async () => (await import('./commands/mcp.ts')).run,
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    about: 'Print a completion script',
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
