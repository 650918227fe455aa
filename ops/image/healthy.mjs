// A health check for the compose file: there is no shell or curl in the image. It asks the process beside it whether it is ready.
import { get } from 'node:http'

const request = get({ host: '127.0.0.1', port: process.env.PORT ?? 8080, path: '/ready', timeout: 2_500 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1)
})
request.on('timeout', () => process.exit(1))
request.on('error', () => process.exit(1))
