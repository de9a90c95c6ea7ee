// Apache Kafka's own declarations of settings, and its own verdict on a settings file.
//
// Reads one JSON request a line: {"declared": "broker" | "topic" | "group"} is answered with every
// setting, {"check": {...}} with Kafka's complaint about those settings of a broker, or null.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.storage.internals.log.LogConfig;

public class KafkaSettings {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = json.readTree(line);
            Object answer = request.has("declared")
                ? declared(definition(request.get("declared").asText()))
                : complaint(request.get("check"));
            System.out.println(json.writeValueAsString(answer));
        }
    }

    private static ConfigDef definition(String resource) {
        switch (resource) {
            case "topic": return LogConfig.configDefCopy();
            case "group": return GroupConfig.CONFIG_DEF;
            default: return kafka.server.KafkaConfig.configDef();
        }
    }

    private static List<Map<String, Object>> declared(ConfigDef definition) {
        Map<String, String> modes = DynamicBrokerConfig.dynamicConfigUpdateModes();
        List<Map<String, Object>> found = new ArrayList<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", key.name);
            row.put("type", key.type.name());
            row.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            row.put("valid", key.validator == null ? "" : key.validator.toString());
            row.put("importance", key.importance.name());
            row.put("internal", key.internalConfig);
            row.put("update", modes.getOrDefault(key.name, "read-only"));
            found.add(row);
        }
        return found;
    }

    private static String complaint(JsonNode settings) {
        Properties properties = new Properties();
        settings.properties().forEach(one -> properties.put(one.getKey(), one.getValue().asText()));
        try {
            kafka.server.KafkaConfig.fromProps(properties, false);
            return null;
        } catch (Exception refused) {
            return String.valueOf(refused.getMessage());
        }
    }
}
