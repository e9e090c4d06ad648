// The programs of the card. Unit shapes and lines are not drawn as instances: where the processor draws, each instance costs
// as much as a call. A vertex looks up its record by its number instead, and all of a kind are one call.

const PLAIN = "#version 300 es\n";
const LOOK_UP = `#version 300 es
#define LOOKED_UP
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D records;
vec4 texel(sampler2D list, int k) { return texelFetch(list, ivec2(k & 1023, k >> 10), 0); }
`;
const SOLID_VERTEX = `#ifdef LOOKED_UP
uniform sampler2D vertices; uniform int count;
#else
in vec3 position; in vec3 normal; in vec4 row0; in vec4 row1; in vec4 row2; in vec4 colour; in float number;
#endif
uniform mat4 toClip; uniform vec3 up; uniform float level; uniform bool flatten;
out vec3 facing; out vec3 inside; out vec4 tint; out vec3 seat; flat out float tag;
void main() {
#ifdef LOOKED_UP
  int which = gl_VertexID / count, corner = gl_VertexID - which * count;
  vec3 position = texel(vertices, 2 * corner).xyz, normal = texel(vertices, 2 * corner + 1).xyz;
  vec4 row0 = texel(records, 5 * which), row1 = texel(records, 5 * which + 1), row2 = texel(records, 5 * which + 2);
  vec4 colour = texel(records, 5 * which + 3);
  float number = texel(records, 5 * which + 4).x;
#endif
  vec4 p = vec4(position, 1.0);
  vec3 at = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  vec3 a = vec3(row0.x, row1.x, row2.x), b = vec3(row0.y, row1.y, row2.y), c = vec3(row0.z, row1.z, row2.z);
  facing = cross(b, c) * normal.x + cross(c, a) * normal.y + cross(a, b) * normal.z;
  inside = position; tint = colour; tag = number; seat = at;
  if (flatten) at += (level - dot(at, up)) * up;
  gl_Position = toClip * vec4(at, 1.0);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing; in vec3 inside; in vec4 tint; in vec3 seat; flat in float tag;
uniform vec3 light; uniform vec3 eye; uniform vec3 up; uniform int pattern; uniform int mode; uniform vec4 shadow;
out vec4 shown;
void main() {
  if (mode == 1) { shown = vec4(mod(tag, 256.0), mod(floor(tag / 256.0), 256.0), floor(tag / 65536.0), 255.0) / 255.0; return; }
  if (mode == 2) { shown = vec4(shadow.rgb * shadow.a, shadow.a); return; }
  vec3 n = normalize(facing), to = normalize(eye - seat);
  if (dot(n, to) < 0.0) n = -n;
  float mark = 1.0;
  if (pattern == 1 && min(min(abs(inside.x), abs(inside.y)), abs(inside.z)) < 0.035) mark = 0.72;
  if (pattern == 2 && abs(inside.z) > 0.499 && min(abs(inside.x), abs(inside.y)) < 0.05) mark = 0.72;
  float soft = 0.5 + 0.5 * dot(n, light), sky = 0.5 + 0.5 * dot(n, up);
  float gloss = pow(max(dot(n, normalize(light + to)), 0.0), 40.0);
  vec3 lit = tint.rgb * mark * (0.30 + 0.22 * sky + 0.62 * soft * soft) + 0.20 * gloss;
  shown = vec4(min(lit, 1.0) * tint.a, tint.a);
}`;
const LINE_VERTEX = `${LOOK_UP}uniform mat4 toClip; uniform vec2 window;
out vec4 tint; flat out float tag;
void main() {
  int which = gl_VertexID >> 2;
  vec2 corner = vec2(gl_VertexID & 1, (gl_VertexID & 2) - 1);
  vec4 one = texel(records, 3 * which), two = texel(records, 3 * which + 1), three = texel(records, 3 * which + 2);
  vec3 from = one.xyz, to = vec3(one.w, two.xy);
  vec4 colour = vec4(two.zw, three.xy);
  vec2 setting = three.zw;
  vec4 a = toClip * vec4(from, 1.0), b = toClip * vec4(to, 1.0);
  float near = 1e-4;
  if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
  if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
  vec2 way = (b.xy / b.w - a.xy / a.w) * window;
  vec2 along = length(way) > 1e-6 ? normalize(way) : vec2(1.0, 0.0);
  vec4 p = corner.x < 0.5 ? a : b;
  vec2 shift = vec2(-along.y, along.x) * corner.y + along * (corner.x - 0.5) * 0.8;
  gl_Position = p + vec4(shift * setting.x / window * p.w, -1e-4 * p.w, 0.0);
  tint = colour; tag = setting.y;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint; flat in float tag; uniform int mode; out vec4 shown;
void main() {
  shown = mode == 1 ? vec4(mod(tag, 256.0), mod(floor(tag / 256.0), 256.0), floor(tag / 65536.0), 255.0) / 255.0
    : vec4(tint.rgb * tint.a, tint.a);
}`;
const FLOOR_VERTEX = `#version 300 es
in vec2 corner; uniform mat4 toClip; uniform vec3 centre; uniform vec3 across; uniform vec3 ahead; uniform float reach;
out vec2 place;
void main() {
  place = corner * reach;
  gl_Position = toClip * vec4(centre + place.x * across + place.y * ahead, 1.0);
}`;
const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 place; uniform float spacing; uniform float reach; uniform vec2 offset; uniform vec3 tint; out vec4 shown;
void main() {
  vec2 p = (place + offset) / spacing;
  vec2 wide = max(fwidth(p), vec2(1e-6));
  vec2 near = abs(fract(p + 0.5) - 0.5) / wide;
  float line = 1.0 - min(min(near.x, near.y), 1.0);
  float alpha = line * 0.55 * pow(max(0.0, 1.0 - length(place) / reach), 1.2);
  shown = vec4(tint * alpha, alpha);
}`;
