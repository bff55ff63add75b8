/** Who is asked. A queue is `queue:<scope>/<name>`. */
export type Audience = `user:${string}` | `group:${string}` | `role:${string}` | `queue:${string}/${string}`

/** Who acted. `policy:` and `system:` never count as a person. */
export type Actor = `user:${string}` | `agent:${string}` | `policy:${string}` | `system:${string}`
